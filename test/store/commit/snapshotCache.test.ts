import { expect, test } from 'vitest'
import type { ReplicaId, ServiceId } from '../../../src/model/id.ts'
import type { Replica, ServiceSnapshot } from '../../../src/model/service.ts'
import { SnapshotCache } from '../../../src/store/commit/services/snapshotCache.ts'
import { Scene } from '../../support/drivers/scene.ts'

const { snapshot } = new Scene({ replicas: 1 })
const [row] = snapshot.replicas.values()

const service = (id: string, rows: number, over: Partial<ServiceSnapshot> = {}): ServiceSnapshot => ({
  ...snapshot,
  id: id as ServiceId,
  replicas: new Map(Array.from({ length: rows }, (_, at) => [String(at) as ReplicaId, row as Replica])),
  ...over,
})
const kept = (cache: SnapshotCache, ...ids: string[]) => ids.filter((id) => cache.get(id as ServiceId) !== undefined)

test('it is bounded by rows, and what was not used for longest goes first', () => {
  const cache = new SnapshotCache()
  cache.set(service('a', 90_000))
  cache.set(service('b', 90_000))
  cache.get('a' as ServiceId)
  cache.set(service('c', 90_000))
  expect(kept(cache, 'a', 'b', 'c')).toEqual(['a', 'c'])
  cache.set(service('a', 1))
  cache.set(service('b', 90_000))
  expect(kept(cache, 'a', 'b', 'c')).toEqual(['a', 'b', 'c'])
})

test('a state older than the log is dropped, and a deleted service is not kept', () => {
  const cache = new SnapshotCache()
  cache.set(service('a', 1, { revision: 5n }))
  cache.dropOlder('a' as ServiceId, 5n)
  expect(cache.size).toBe(1)
  cache.dropOlder('a' as ServiceId, 6n)
  expect(cache.size).toBe(0)
  cache.set(service('b', 1))
  cache.set(service('b', 1, { columns: { ...snapshot.columns, deletedAt: 1 } }))
  expect(cache.size).toBe(0)
})
