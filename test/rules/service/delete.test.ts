import { expect, test } from 'vitest'
import type { ServiceIntent } from '../../../src/model/intent.ts'
import { dataOf, messagesOf, readyScene, Scene } from '../../support/drivers/scene.ts'

const deletion: ServiceIntent = { kind: 'delete', expectedRevision: null, actor: 'alice' }

test('all replicas are stopped, and with the last end the service is gone', () => {
  const scene = readyScene({ replicas: 2 })
  scene.scale(3)
  const at = scene.ctx.now
  const change = scene.commit(deletion)
  expect(scene.snapshot.columns).toMatchObject({
    status: 'DELETING',
    deletionRequestedAt: at,
    deletedAt: null,
    blockers: [],
  })
  expect(change.updatedReplicas.map(({ state, stopReason }) => [state, stopReason])).toEqual([
    ['STOPPING', 'SERVICE_DELETED'],
    ['STOPPING', 'SERVICE_DELETED'],
    ['ENDED', 'SERVICE_DELETED'],
  ])
  expect(messagesOf(change)[0]).toBe('alice deleted web: its 3 replicas are being stopped.')
  const last = scene.wait(2).confirmStops()
  expect(scene.snapshot.columns.deletedAt).toBe(scene.ctx.now)
  expect(messagesOf(last).at(-1)).toBe('Service web is gone: none of its replicas is left, and its name is free.')
  expect(dataOf(last).after).toMatchObject({ deletedAt: scene.ctx.now })
  expect([scene.store.usedQuota, scene.store.table.size, scene.store.alive.length]).toEqual([0, 0, 0])
})

test('a second delete gives the same answer and changes nothing, whatever revision it expects', () => {
  const scene = readyScene({ replicas: 1 })
  scene.commit(deletion)
  const { change, outcomes } = scene.store.commit(scene.ctx, { ...deletion, expectedRevision: 1n })
  expect(outcomes).toEqual([{ kind: 'done', changed: false }])
  expect(change.facts).toEqual([])
})

test('without replicas it is gone at once', () => {
  const scene = new Scene({ replicas: 0 })
  scene.commit(deletion)
  expect(scene.snapshot.columns).toMatchObject({ status: 'DELETING', deletedAt: scene.ctx.now })
})

test('an unfinished rollout is CANCELLED, failures are forgotten, no timer is left', () => {
  const scene = new Scene({ replicas: 1 })
  scene.place()
  scene.end(0)
  const change = scene.commit(deletion)
  expect(scene.snapshot.rollout).toMatchObject({
    state: 'CANCELLED',
    finishedAt: scene.ctx.now,
    deadlineAt: null,
    blocker: null,
  })
  expect(change.slots.deleted).toEqual([{ index: 0, contentNumber: 1 }])
  expect(scene.snapshot.timers.size).toBe(0)
})

test('what ends by itself while DELETING is not replaced', () => {
  const scene = readyScene({ replicas: 2 })
  const [gone] = scene.store.alive
  scene.commit(deletion)
  scene.confirmStops()
  expect(scene.store.alive).toEqual([])
  expect(scene.store.rows.get(gone?.id ?? ('' as never))?.endReason).toBe('SERVICE_DELETED')
  expect(scene.snapshot.slots).toEqual([])
})

test('R17: it compares expectedRevision', () => {
  const scene = readyScene({ replicas: 1 })
  expect(scene.ask({ ...deletion, expectedRevision: 999n })).toMatchObject({ refusal: { code: 'CONFLICT' } })
  expect(scene.ask({ ...deletion, expectedRevision: scene.snapshot.specRevision })).toEqual({
    kind: 'done',
    changed: true,
  })
})
