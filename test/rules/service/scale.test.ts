import { describe, expect, test } from 'vitest'
import type { ServiceIntent } from '../../../src/model/intent.ts'
import { dataOf, messagesOf, readyScene, Scene } from '../../support/drivers/scene.ts'

const scaleTo = (replicas: number, over: Partial<Extract<ServiceIntent, { kind: 'scale' }>> = {}): ServiceIntent => ({
  kind: 'scale',
  replicas,
  expectedRevision: null,

  actor: 'alice',
  ...over,
})

test('R2: growing starts rows at the smallest free indexes; they wait for placement', () => {
  const scene = readyScene({ replicas: 2 })
  const change = scene.scale(4)
  expect(
    change.insertedReplicas.map(({ index, state, blocker, holdsQuota }) => [index, state, blocker?.reason, holdsQuota]),
  ).toEqual([
    [2, 'PENDING', 'QUEUED', false],
    [3, 'PENDING', 'QUEUED', false],
  ])
  expect(messagesOf(change)).toEqual([
    'alice scaled web from 2 to 4 replicas.',
    'Replicas 2 and 3 of web are created (version 1).',
  ])
  expect(change.quota.delta).toBe(0)
  expect(dataOf(change).wakesPlacement).toBe(true)
  expect(scene.snapshot.columns).toMatchObject({ desiredReplicas: 4, activeReplicas: 4, status: 'PROGRESSING' })
})

test('a freed index is given again, once its replica is stopping', () => {
  const scene = readyScene({ replicas: 3 })
  scene.kill(1)
  expect(scene.row(1).state).toBe('PENDING')
  scene.scale(2)
  scene.scale(4)
  expect(
    scene.store.alive
      .filter((row) => row.state !== 'STOPPING')
      .map((row) => row.index)
      .sort(),
  ).toEqual([0, 1, 2, 3])
})

test('R11: shrinking stops what would be missed least, first', () => {
  const scene = readyScene({ replicas: 3 })
  scene.scale(5)
  const change = scene.scale(2)
  expect(
    change.updatedReplicas.map(({ index, state, endReason, stopReason }) => [index, state, endReason, stopReason]),
  ).toEqual([
    [2, 'STOPPING', null, 'SCALED_DOWN'],
    [3, 'ENDED', 'SCALED_DOWN', 'SCALED_DOWN'],
    [4, 'ENDED', 'SCALED_DOWN', 'SCALED_DOWN'],
  ])
  expect(messagesOf(change)).toContain('Replicas 3 and 4 of web have stopped: the service was scaled down.')
})

test('R12: the address of a replica that is stopped is no longer ready with that commit, and serves on while it drains', () => {
  const scene = readyScene({ replicas: 2 })
  const gone = scene.row(1)
  const change = scene.scale(1)
  expect(dataOf(change).upserted).toMatchObject([
    { id: `${gone.id}:http:1`, ready: false, serving: true, terminating: true },
  ])
  expect(dataOf(scene.confirmStops()).removed).toEqual([`${gone.id}:http:1`])
})

test('scales of one commit come to one change: rows created and dropped in it are not written', () => {
  const scene = readyScene({ replicas: 3 })
  const change = scene.commit(scaleTo(10), scaleTo(1), scaleTo(3))
  expect([change.insertedReplicas, change.updatedReplicas]).toEqual([[], []])
  expect(messagesOf(change)).toEqual([
    'alice scaled web from 3 to 10 replicas.',
    'alice scaled web from 10 to 1 replica.',
    'alice scaled web from 1 to 3 replicas.',
  ])
  expect(change.specFact).toBe(3)
})

test('to 0 and back', () => {
  const scene = readyScene({ replicas: 2 })
  scene.scale(0)
  expect(scene.snapshot.columns).toMatchObject({ status: 'STOPPED', stoppingReplicas: 2, activeReplicas: 0 })
  scene.confirmStops()
  expect(scene.store.alive).toEqual([])
  scene.scale(1)
  expect(scene.row(0)).toMatchObject({ index: 0, versionNumber: 1 })
})

test('quota that a waiting replica gives back wakes placement', () => {
  const scene = readyScene({ replicas: 1 })
  scene.end(0)
  const change = scene.scale(0)
  expect([change.quota.delta, change.hosts]).toEqual([-1, []])
  expect(dataOf(change).wakesPlacement).toBe(true)
})

describe('answers', () => {
  test('the same number changes nothing', () => {
    const scene = readyScene({ replicas: 2 })
    const { change, outcomes } = scene.store.commit(scene.ctx, scaleTo(2))
    expect(outcomes).toEqual([{ kind: 'done', changed: false }])
    expect([change.facts, change.specFact]).toEqual([[], null])
  })

  test('R17: another specRevision than expected is a CONFLICT that names the field and the current one, and leaves no trace', () => {
    const scene = readyScene({ replicas: 2 })
    const { specRevision } = scene.snapshot
    expect(scene.ask(scaleTo(4, { expectedRevision: specRevision + 1n }))).toMatchObject({
      kind: 'refused',
      refusal: { code: 'CONFLICT', path: ['input', 'expectedRevision'], specRevision },
    })
    expect(scene.snapshot.columns.desiredReplicas).toBe(2)
    expect(scene.ask(scaleTo(4, { expectedRevision: specRevision }))).toEqual({ kind: 'done', changed: true })
    expect(scene.snapshot.specRevision).toBeGreaterThan(specRevision)
    expect(scene.ask(scaleTo(5, { expectedRevision: specRevision }))).toMatchObject({ refusal: { code: 'CONFLICT' } })
  })

  test('readiness, ends and kills are no changes of the spec', () => {
    const scene = new Scene({ replicas: 2 })
    const { specRevision } = scene.snapshot
    scene.place()
    scene.ready()
    scene.kill(0)
    scene.end(1)
    expect(scene.snapshot.specRevision).toBe(specRevision)
    expect(scene.snapshot.revision).toBeGreaterThan(specRevision)
  })

  test('more than the project can ever hold is QUOTA_EXCEEDED; shrinking never is', () => {
    const scene = readyScene({ replicas: 4 })
    expect(scene.limit(5).ask(scaleTo(6))).toMatchObject({
      refusal: { code: 'QUOTA_EXCEEDED', limit: 5, requested: 6 },
    })
    expect(scene.ask(scaleTo(5))).toEqual({ kind: 'done', changed: true })
    expect(scene.limit(2).ask(scaleTo(3))).toEqual({ kind: 'done', changed: true })
  })

  test('while DELETING it is INVALID_STATE', () => {
    const scene = readyScene({ replicas: 1 })
    scene.commit({ kind: 'delete', expectedRevision: null, actor: 'alice' })
    expect(scene.ask(scaleTo(3))).toMatchObject({ refusal: { code: 'INVALID_STATE' } })
  })
})

describe('the cap of 500 rows', () => {
  test('the rest follows at once, by a timer that is due', () => {
    const scene = new Scene({ replicas: 1200 })
    expect(scene.store.alive).toHaveLength(500)
    expect(scene.snapshot.timers.get('CONTINUE')).toBe(scene.ctx.now)
    scene.tick()
    expect(scene.store.alive).toHaveLength(1000)
    const change = scene.tick()
    expect(scene.store.alive).toHaveLength(1200)
    expect(change.timers.deleted).toEqual(['CONTINUE'])
    expect(scene.tick().facts).toEqual([])
  })

  test('a delete of many goes on until the last one has ended', () => {
    const scene = new Scene({ replicas: 900 })
    scene.tick()
    const change = scene.commit({ kind: 'delete', expectedRevision: null, actor: 'alice' })
    expect(change.updatedReplicas).toHaveLength(500)
    expect(scene.snapshot.columns.deletedAt).toBeNull()
    scene.tick()
    expect(scene.snapshot.columns.deletedAt).toBe(scene.ctx.now)
  })

  test('grants past it are left to the next placement', () => {
    const scene = new Scene({ replicas: 700 })
    scene.tick()
    const change = scene.place()
    expect(change.updatedReplicas).toHaveLength(500)
    expect(dataOf(change).wakesPlacement).toBe(true)
  })
})
