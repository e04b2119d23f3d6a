import { expect, test } from 'vitest'
import type { Blocker } from '../../../src/model/blocker.ts'
import type { ReplicaId } from '../../../src/model/id.ts'
import { dataOf, messagesOf, Scene } from '../../support/drivers/scene.ts'
import { grantOf, hostId } from '../../support/fixtures/services.ts'

test('a grant takes host, CPU, memory, ports and quota of a replica at once', () => {
  const scene = new Scene({ replicas: 2 })
  const ports = (port: number) => [{ name: 'http', port, protocol: 'TCP' as const }]
  const grants = [0, 1].map((index) =>
    grantOf(scene.row(index).id, { allocation: 8, ports: ports(20_000 + index), lastPort: 20_000 + index }),
  )
  const change = scene.commit({ kind: 'grant', grants })
  const taken = [0, 1].map((index) => ({ ...ports(20_000 + index)[0], replicaId: scene.row(index).id }))
  expect(change.hosts).toEqual([
    {
      hostId: hostId(1),
      allocation: 8,
      cpuMillis: 200,
      memoryMiB: 128,
      lastPort: 20_001,
      portsTaken: taken,
      portsReleased: [],
      portsQuarantined: [],
      portsKept: [],
    },
  ])
  expect(change.quota).toEqual({ projectId: 'project-1', delta: 2 })
  expect(scene.row(0)).toMatchObject({
    state: 'STARTING',
    hostId: hostId(1),
    ports: ports(20_000),
    blocker: null,
    holdsQuota: true,
    startedAt: null,
  })
  expect(scene.snapshot.hosts.get(hostId(1))).toEqual({ id: hostId(1), name: 'node1' })
  expect(dataOf(change)).toMatchObject({ hosts: [hostId(1)], upserted: [], wakesPlacement: false })
  expect(messagesOf(change)).toEqual(['Replicas 0 and 1 of web are placed on host node1.'])
})

test('a grant for what no longer waits is passed over', () => {
  const scene = new Scene({ replicas: 1 })
  const { id } = scene.row(0)
  scene.scale(0)
  expect(scene.commit({ kind: 'grant', grants: [grantOf(id), grantOf('id-unknown' as ReplicaId)] }).facts).toEqual([])
  scene.scale(1)
  scene.place()
  expect(scene.commit({ kind: 'grant', grants: [grantOf(scene.row(0).id, { hostId: hostId(2) })] }).facts).toEqual([])
  expect(scene.row(0).hostId).toBe(hostId(1))
})

test('a grant and a kill of one replica in one commit take nothing', () => {
  const scene = new Scene({ replicas: 1 })
  const { id } = scene.row(0)
  const change = scene.commit({ kind: 'kill', replica: id, actor: 'alice' }, { kind: 'grant', grants: [grantOf(id)] })
  expect([change.hosts, change.quota.delta]).toEqual([[], 0])
})

const blocker = (over: Partial<Blocker> = {}): Blocker => ({
  reason: 'NO_CAPACITY',
  message: '100 mCPU are free on none of 1 hosts: add a host.',
  count: 1,
  since: 0,
  until: null,
  replica: null,
  ...over,
})

test('a hold says why a replica is not placed: on its row, its service and its rollout; `since` lasts as long as the reason', () => {
  const scene = new Scene({ replicas: 2 })
  const hold = (over: Partial<Blocker> = {}) =>
    scene.commit({
      kind: 'setBlockers',
      blockers: scene.store.alive.map((row) => ({
        replica: row.id,
        blocker: blocker({ since: scene.ctx.now, ...over }),
      })),
    })
  const since = scene.wait(1).ctx.now
  hold()
  expect(scene.row(0).blocker).toMatchObject({ reason: 'NO_CAPACITY', since, replica: scene.row(0).id })
  expect(scene.snapshot.columns.blockers).toMatchObject([{ reason: 'NO_CAPACITY', count: 2, since, replica: null }])
  expect(scene.snapshot.rollout.blocker).toMatchObject({ reason: 'NO_CAPACITY' })
  scene.wait(5)
  expect(hold().facts).toEqual([])
  hold({ message: '100 mCPU are free on none of 2 hosts: add a host.' })
  expect(scene.row(0).blocker?.since).toBe(since)
  hold({ reason: 'QUOTA', message: 'Project default has used all of its 2 replicas.' })
  expect(scene.row(0).blocker).toMatchObject({ reason: 'QUOTA', since: scene.ctx.now })
})

test('a hold that ends by itself has a timer, and then wakes placement', () => {
  const scene = new Scene({ replicas: 1 })
  const until = scene.ctx.now + 60_000
  scene.commit({
    kind: 'setBlockers',
    blockers: [{ replica: scene.row(0).id, blocker: blocker({ reason: 'NO_PORT', until }) }],
  })
  expect(scene.snapshot.timers.get('BACKOFF')).toBe(until)
  scene.ctx.now = until
  expect(dataOf(scene.tick()).wakesPlacement).toBe(true)
  expect(scene.row(0).blocker?.reason).toBe('QUEUED')
})
