import { describe, expect, test } from 'vitest'
import { backoffSeconds } from '../../../src/rules/replica/backoff.ts'
import { readyScene, Scene } from '../../support/drivers/scene.ts'
import { hostId, settings } from '../../support/fixtures/services.ts'

describe('R10: the waits of a slot', () => {
  test.each([
    [1, 0],
    [2, 10],
    [3, 20],
    [4, 40],
    [5, 80],
    [6, 160],
    [7, 300],
    [8, 300],
    [500, 300],
  ])('after failure %i: %i s', (failures, seconds) => {
    expect(backoffSeconds(failures, settings())).toBe(seconds)
  })

  test('at most 17 starts in the first hour', () => {
    const scene = new Scene({ replicas: 1 })
    const until = scene.ctx.now + 3_600_000
    let starts = 0
    while (scene.ctx.now < until) {
      scene.place()
      starts++
      scene.end(0, { endReason: 'START_FAILED' })
      const { notBefore } = scene.row(0)
      if (notBefore !== null) scene.ctx.now = notBefore
      scene.tick()
    }
    expect(starts).toBe(17)
  })
})

test('the replacement waits from the failure on, with its blocker and its timer, and then wakes placement', () => {
  const scene = readyScene({ replicas: 1 })
  scene.end(0)
  expect(scene.row(0)).toMatchObject({
    notBefore: null,
    blocker: { reason: 'QUEUED' },
    avoidHostId: hostId(1),
    holdsQuota: true,
  })
  scene.place()
  const failedAt = scene.ctx.now
  scene.end(0, { endReason: 'GAVE_UP' })
  const until = failedAt + 10_000
  expect(scene.row(0)).toMatchObject({ notBefore: until, blocker: { reason: 'BACKOFF', until, since: failedAt } })
  expect(scene.snapshot.columns.blockers).toMatchObject([{ reason: 'BACKOFF', count: 1, until }])
  expect(scene.snapshot.timers.get('BACKOFF')).toBe(until)
  scene.wait(9.999)
  expect(scene.tick().facts).toEqual([])
  scene.ctx.now = until
  const change = scene.tick()
  expect(change.facts.at(-1)).toMatchObject({ kind: 'change', data: { wakesPlacement: true } })
  expect(scene.row(0)).toMatchObject({ notBefore: null, blocker: { reason: 'QUEUED' } })
  expect(scene.snapshot.timers.has('BACKOFF')).toBe(false)
})

test('from the third failure the slot and the service are in CRASH_LOOP, through the next attempt, until it was available for long', () => {
  const scene = readyScene({ replicas: 2 })
  for (const wait of [0, 10, 20]) {
    scene.end(0)
    expect(scene.snapshot.columns.status).toBe(wait === 20 ? 'CRASH_LOOP' : 'DEGRADED')
    if (wait < 20) {
      scene.wait(wait).tick()
      scene.place()
    }
  }
  const until = scene.ctx.now + 20_000
  expect(scene.row(0).blocker).toMatchObject({ reason: 'CRASH_LOOP', until })
  expect(scene.snapshot.columns.blockers).toMatchObject([
    { reason: 'CRASH_LOOP', count: 1, until, replica: scene.row(0).id },
  ])
  scene.wait(20).tick()
  scene.place()
  scene.ready()
  expect(scene.snapshot.columns.status).toBe('CRASH_LOOP')
  expect(scene.snapshot.timers.get('BACKOFF_RESET')).toBe(scene.ctx.now + 600_000)
  scene.wait(600).tick()
  expect(scene.snapshot.slots).toEqual([])
  expect(scene.snapshot.columns).toMatchObject({ status: 'HEALTHY', blockers: [] })
})

test('an end after it was available for long enough is no failure', () => {
  const scene = readyScene({ replicas: 1 })
  scene.wait(600)
  scene.end(0)
  expect(scene.snapshot.slots).toEqual([])
  expect(scene.row(0)).toMatchObject({ notBefore: null, avoidHostId: null })
})

test('exit 0 is a failure; a kill, a lost host, a taken port and a scale are none', () => {
  const scene = readyScene({ replicas: 1 })
  scene.end(0, { exitCode: 0 })
  expect(scene.snapshot.slots).toMatchObject([{ index: 0, contentNumber: 1, failures: 1, failedHostId: hostId(1) }])
  scene.commit({ kind: 'resetBackoff', actor: 'alice' })
  scene.place()
  scene.kill(0)
  scene.confirmStops()
  scene.place()
  scene.end(0, { endReason: 'PORT_TAKEN' })
  scene.place()
  scene.end(0, { endReason: 'STOPPED' })
  scene.scale(2)
  expect(scene.snapshot.slots).toEqual([])
})

test('each slot has its own failures, and scaling down and up keeps them', () => {
  const scene = readyScene({ replicas: 2 })
  scene.end(1)
  scene.place()
  scene.end(1)
  expect(scene.snapshot.slots).toMatchObject([{ index: 1, failures: 2 }])
  expect(scene.row(0).notBefore).toBeNull()
  scene.scale(1)
  scene.scale(2)
  expect(scene.row(1)).toMatchObject({ blocker: { reason: 'BACKOFF' } })
})

test('resetBackoff forgets the failures and lets what waits be placed at once; with nothing to forget: NO_CHANGE', () => {
  const scene = readyScene({ replicas: 1 })
  expect(scene.ask({ kind: 'resetBackoff', actor: 'alice' })).toMatchObject({
    kind: 'refused',
    refusal: { code: 'NO_CHANGE' },
  })
  scene.end(0)
  scene.place()
  scene.end(0)
  expect(scene.row(0).blocker?.reason).toBe('BACKOFF')
  const { change, outcomes } = scene.store.commit(scene.ctx, { kind: 'resetBackoff', actor: 'alice' })
  expect(outcomes).toEqual([{ kind: 'done', changed: true }])
  expect(change.facts.at(-1)).toMatchObject({ data: { wakesPlacement: true } })
  expect(change.specFact).toBeNull()
  expect(scene.row(0)).toMatchObject({ notBefore: null, blocker: { reason: 'QUEUED' } })
  expect([scene.snapshot.slots, scene.snapshot.timers.size]).toEqual([[], 0])
})
