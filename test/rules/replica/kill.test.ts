import { expect, test } from 'vitest'
import type { ReplicaId } from '../../../src/model/id.ts'
import { messagesOf, readyScene, Scene } from '../../support/drivers/scene.ts'

test('it stops as KILLED and is replaced at once, with the same index, which is no failure', () => {
  const scene = readyScene({ replicas: 2 })
  const gone = scene.row(0)
  const change = scene.kill(0)
  expect(scene.store.rows.get(gone.id)).toMatchObject({
    state: 'STOPPING',
    stopReason: 'KILLED',
    stoppingAt: scene.ctx.now,
    ready: false,
    holdsQuota: true,
  })
  expect(scene.row(0)).toMatchObject({
    state: 'PENDING',
    holdsQuota: false,
    blocker: { reason: 'QUEUED' },
    avoidHostId: null,
  })
  expect(messagesOf(change)).toEqual(['alice killed replica 0 of web.'])
  expect([change.quota.delta, change.specFact]).toEqual([0, null])
  scene.confirmStops()
  expect(scene.store.rows.get(gone.id)).toMatchObject({ state: 'ENDED', endReason: 'KILLED' })
  expect(scene.snapshot.slots).toEqual([])
})

test('one without a host ends at once', () => {
  const scene = new Scene({ replicas: 1 })
  const gone = scene.row(0)
  scene.kill(0)
  expect(scene.store.rows.get(gone.id)).toMatchObject({ state: 'ENDED', endReason: 'KILLED' })
  expect(scene.row(0).id).not.toBe(gone.id)
})

test('the replacement of one that waits for a backoff waits on', () => {
  const scene = readyScene({ replicas: 1 })
  scene.end(0)
  scene.place()
  scene.end(0)
  const { notBefore } = scene.row(0)
  scene.kill(0)
  expect(scene.row(0)).toMatchObject({ notBefore, blocker: { reason: 'BACKOFF' }, holdsQuota: true })
  expect(scene.store.usedQuota).toBe(1)
})

test('killed together with a scale down it is not replaced', () => {
  const scene = readyScene({ replicas: 2 })
  const { change } = scene.store.commit(
    scene.ctx,
    { kind: 'kill', replica: scene.row(0).id, actor: 'bob' },
    { kind: 'scale', replicas: 1, expectedRevision: null, actor: 'alice' },
  )
  expect(change.insertedReplicas).toEqual([])
  expect(scene.snapshot.columns).toMatchObject({ activeReplicas: 1, availableReplicas: 1, stoppingReplicas: 1 })
})

test('one that has ended or is stopping: INVALID_STATE', () => {
  const scene = readyScene({ replicas: 1 })
  const { id } = scene.row(0)
  const again = { kind: 'kill', replica: id, actor: 'alice' } as const
  scene.commit(again)
  expect(scene.ask(again)).toMatchObject({ refusal: { code: 'INVALID_STATE', path: ['input', 'replica'] } })
  scene.confirmStops()
  expect(scene.ask(again)).toMatchObject({ refusal: { code: 'INVALID_STATE' } })
  expect(scene.ask({ ...again, replica: 'id-unknown' as ReplicaId })).toMatchObject({
    refusal: { code: 'INVALID_STATE' },
  })
})
