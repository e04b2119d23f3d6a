import { describe, expect, test } from 'vitest'
import { messagesOf, readyScene } from '../../support/drivers/scene.ts'
import { mixOf, pauseIntent, restartIntent, resumeIntent, roll, updateTo } from '../../support/fixtures/rollouts.ts'

/** Half way: 1 of version 1 available, 4 of version 2, of them 2 available. */
function half() {
  const scene = readyScene({ replicas: 4 })
  scene.commit(updateTo('two'))
  scene.place()
  scene.ready()
  scene.confirmStops()
  return scene
}

describe('R7: paused', () => {
  test('no version steps; the deadline’s clock stops; resume arms the full deadline', () => {
    const scene = half()
    scene.wait(100)
    const change = scene.commit(pauseIntent)
    expect(messagesOf(change)).toEqual(['alice paused rollout 2 of web.', 'web: paused 1 → 2, 4 of 4 updated.'])
    expect(scene.snapshot.rollout).toMatchObject({
      state: 'PAUSED',
      deadlineAt: null,
      blocker: { reason: 'ROLLOUT_PAUSED' },
    })
    expect(scene.snapshot.columns).toMatchObject({ paused: true, status: 'PAUSED' })
    expect(scene.snapshot.timers.size).toBe(0)
    scene.place()
    scene.ready()
    expect(mixOf(scene.snapshot)).toBe('1 v1 + 4 v2')
    scene.wait(10_000).tick()
    expect(scene.snapshot.rollout.state).toBe('PAUSED')
    expect(messagesOf(scene.commit(resumeIntent))[0]).toBe('alice resumed rollout 2 of web.')
    expect(scene.snapshot.rollout).toMatchObject({ state: 'COMPLETED' })
    expect(mixOf(scene.snapshot)).toBe('4 v2')
  })

  test('resume before it is complete arms the full deadline and keeps the marks', () => {
    const scene = half()
    const { bestAvailable } = scene.snapshot.rollout
    scene.commit(pauseIntent)
    scene.wait(1_000).commit(resumeIntent)
    expect(scene.snapshot.rollout).toMatchObject({
      state: 'ROLLING',
      deadlineAt: scene.ctx.now + 600_000,
      bestAvailable,
    })
    expect(scene.snapshot.timers.get('PROGRESS_DEADLINE')).toBe(scene.ctx.now + 600_000)
  })

  test('a STALLED one is PAUSED, and goes on with the full deadline', () => {
    const scene = half()
    scene.wait(600).tick()
    expect(scene.snapshot.columns.status).toBe('STALLED')
    scene.commit(pauseIntent)
    expect(scene.snapshot.columns.status).toBe('PAUSED')
    scene.commit(resumeIntent)
    expect(scene.snapshot.rollout).toMatchObject({ state: 'ROLLING', deadlineAt: scene.ctx.now + 600_000 })
  })

  test('replacement goes on, each at its own version', () => {
    const scene = half()
    scene.commit(pauseIntent)
    for (const row of scene.store.alive) scene.commit({ kind: 'kill', replica: row.id, actor: 'bob' })
    expect(mixOf(scene.snapshot)).toBe('1 v1 + 4 v2')
  })

  test('scaling goes on: up in proportion to the versions, down by R11', () => {
    const scene = half()
    scene.commit(pauseIntent)
    scene.scale(8)
    expect(mixOf(scene.snapshot)).toBe('2 v1 + 8 v2')
    expect(scene.snapshot.rollout).toMatchObject({ state: 'PAUSED', deadlineAt: null, desiredReplicas: 8 })
    scene.scale(2)
    expect(scene.snapshot.columns.activeReplicas).toBe(3)
    scene.scale(0)
    expect(scene.snapshot.columns).toMatchObject({ paused: false, status: 'STOPPED' })
    expect(scene.snapshot.rollout.state).toBe('COMPLETED')
  })

  test('startPaused: nothing steps before resume', () => {
    const scene = readyScene({ replicas: 3 })
    const change = scene.commit(updateTo('two', { startPaused: true }))
    expect(change.rollouts).toMatchObject([{ state: 'PAUSED', deadlineAt: null, oldReplicas: 3, updatedReplicas: 0 }])
    expect([change.insertedReplicas, change.updatedReplicas]).toEqual([[], []])
    scene.commit(resumeIntent)
    expect(roll(scene).at(-1)).toBe('3 v2')
  })

  test('an update while paused sets the target and stays paused', () => {
    const scene = half()
    scene.commit(pauseIntent)
    scene.commit(updateTo('three'))
    expect(scene.snapshot.columns).toMatchObject({ paused: true, versionNumber: 3 })
    expect(mixOf(scene.snapshot)).toBe('1 v1 + 4 v2')
  })

  test('a restart while paused replaces each at its own version, and leaves the versions as they are', () => {
    const scene = half()
    scene.place()
    scene.ready()
    scene.confirmStops()
    const whole = readyScene({ replicas: 4 })
    whole.commit(updateTo('two', { startPaused: true }))
    whole.commit(restartIntent())
    for (let round = 0; round < 10; round++) {
      whole.place()
      whole.ready()
      whole.confirmStops()
    }
    expect(mixOf(whole.snapshot)).toBe('4 v1')
    expect(whole.snapshot.columns).toMatchObject({ paused: true, availableReplicas: 4, versionNumber: 3 })
    whole.commit(resumeIntent)
    expect(roll(whole).at(-1)).toBe('4 v3')
  })
})

describe('answers', () => {
  test('INVALID_STATE: pausing what is not rolling or is paused, resuming what is not paused', () => {
    const scene = readyScene({ replicas: 2 })
    const invalid = (intent: typeof pauseIntent, message: string) => {
      const before = scene.snapshot
      expect(scene.ask(intent)).toMatchObject({
        refusal: { code: 'INVALID_STATE', path: ['input', 'service'], message: expect.stringContaining(message) },
      })
      expect(scene.snapshot).toBe(before)
    }
    invalid(pauseIntent, 'No rollout of service web is under way')
    invalid(resumeIntent, 'is not paused')
    scene.commit(updateTo('two'))
    invalid(resumeIntent, 'is not paused')
    scene.commit(pauseIntent)
    invalid(pauseIntent, 'is paused already')
  })

  test('CONFLICT, and a change of the spec', () => {
    const scene = half()
    const { specRevision } = scene.snapshot
    expect(scene.ask({ ...pauseIntent, expectedRevision: specRevision - 1n })).toMatchObject({
      refusal: { code: 'CONFLICT' },
    })
    scene.commit({ ...pauseIntent, expectedRevision: specRevision })
    expect(scene.snapshot.specRevision).toBeGreaterThan(specRevision)
    expect(scene.ask({ ...resumeIntent, expectedRevision: specRevision })).toMatchObject({
      refusal: { code: 'CONFLICT' },
    })
  })
})
