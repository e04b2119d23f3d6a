import { describe, expect, test } from 'vitest'
import { messagesOf, readyScene, Scene } from '../../support/drivers/scene.ts'
import { reportOf, settings } from '../../support/fixtures/services.ts'

describe('the creation is rollout 1', () => {
  test('it says from the first commit on what it waits for, and is COMPLETED with n available replicas', () => {
    const scene = new Scene({ replicas: 2 })
    const { ctx, snapshot } = scene
    expect(snapshot.rollout).toMatchObject({
      number: 1,
      fromVersion: null,
      toVersion: 1,
      state: 'ROLLING',
      desiredReplicas: 2,
      maxSurge: 1,
      maxUnavailable: 0,
      updatedReplicas: 2,
      startedBy: 'alice',
      deadlineAt: ctx.now + 600_000,
      blocker: { reason: 'QUEUED', count: 2 },
    })
    scene.place()
    expect(scene.snapshot.rollout.blocker).toMatchObject({ reason: 'WAITING_FOR_READY', count: 2 })
    scene.report([reportOf(scene.row(0))])
    expect(scene.snapshot.rollout).toMatchObject({
      availableReplicas: 1,
      blocker: { reason: 'WAITING_FOR_READY', replica: scene.row(1).id },
    })
    expect(messagesOf(scene.ready())).toEqual([
      'Replica 1 of web is ready.',
      'Rollout 1 of web to version 1 is complete: 2 replicas are available.',
    ])
    expect(scene.snapshot.rollout).toMatchObject({
      state: 'COMPLETED',
      finishedAt: ctx.now,
      deadlineAt: null,
      blocker: null,
    })
    expect(scene.snapshot.timers.size).toBe(0)
  })

  test('with no replicas it is COMPLETED at once', () => {
    const { snapshot } = new Scene({ replicas: 0 })
    expect(snapshot.rollout.state).toBe('COMPLETED')
    expect(snapshot.columns.status).toBe('STOPPED')
  })

  test('later ends and scales do not open it again', () => {
    const scene = readyScene({ replicas: 2 })
    const { rollout } = scene.snapshot
    scene.end(0)
    scene.scale(5)
    expect(scene.snapshot.rollout).toBe(rollout)
    expect(scene.snapshot.columns.status).toBe('DEGRADED')
  })
})

describe('R8: the deadline', () => {
  const stalled = () => {
    const scene = new Scene({ replicas: 3, settings: settings({ progressDeadlineSeconds: 60 }) })
    scene.place()
    scene.wait(30).report([reportOf(scene.row(0))])
    return scene
  }

  test('progress arms it anew; without any it is STALLED, which is said and stops nothing', () => {
    const scene = stalled()
    const armed = scene.ctx.now + 60_000
    expect(scene.snapshot.rollout).toMatchObject({ deadlineAt: armed, progressedAt: scene.ctx.now, bestAvailable: 1 })
    expect(scene.snapshot.timers.get('PROGRESS_DEADLINE')).toBe(armed)
    scene.wait(59.999)
    expect(scene.tick().facts).toEqual([])
    const change = scene.wait(0.001).tick()
    expect(messagesOf(change)[0]).toMatch(/^Rollout 1 of web has made no progress for 60 s\. /)
    expect(scene.snapshot.columns).toMatchObject({ status: 'STALLED', activeReplicas: 3 })
    expect(scene.snapshot.columns.blockers.map(({ reason }) => reason)).toEqual([
      'PROGRESS_DEADLINE',
      'WAITING_FOR_READY',
    ])
    expect(scene.snapshot.timers.size).toBe(0)
  })

  test('flapping is no progress', () => {
    const scene = stalled()
    scene.wait(40).report([reportOf(scene.row(0), { ready: false })])
    scene.report([reportOf(scene.row(0))])
    scene.wait(20).tick()
    expect(scene.snapshot.rollout.state).toBe('STALLED')
  })

  test('progress clears it, and so does completion', () => {
    const scene = stalled()
    scene.wait(60).tick()
    scene.report([reportOf(scene.row(1))])
    expect(scene.snapshot.rollout).toMatchObject({ state: 'ROLLING', deadlineAt: scene.ctx.now + 60_000 })
    expect(scene.snapshot.columns.status).toBe('PROGRESSING')
    scene.wait(60).tick()
    scene.ready()
    expect(scene.snapshot.rollout.state).toBe('COMPLETED')
  })

  test('a scale resets the marks, takes over n and its limits, and arms the full deadline', () => {
    const scene = stalled()
    scene.report([reportOf(scene.row(0), { ready: false })])
    expect(scene.snapshot.rollout.bestAvailable).toBe(1)
    scene.wait(50).scale(8)
    const { rollout } = scene.snapshot
    expect(rollout).toMatchObject({
      desiredReplicas: 8,
      maxSurge: 2,
      maxUnavailable: 2,
      bestAvailable: 0,
      deadlineAt: scene.ctx.now + 60_000,
    })
    expect(scene.snapshot.timers.get('PROGRESS_DEADLINE')).toBe(scene.ctx.now + 60_000)
    scene.wait(10).report([reportOf(scene.row(0))])
    expect(scene.snapshot.rollout.deadlineAt).toBe(scene.ctx.now + 60_000)
  })

  test('it clears STALLED, as the deadline is a new one', () => {
    const scene = stalled()
    scene.wait(60).tick()
    scene.scale(4)
    expect(scene.snapshot.columns.status).toBe('PROGRESSING')
  })
})
