import { describe, expect, test } from 'vitest'
import type { ServiceIntent } from '../../../src/model/intent.ts'
import { isActive } from '../../../src/model/replica.ts'
import type { Settings } from '../../../src/model/settings.ts'
import { messagesOf, readyScene, type Scene } from '../../support/drivers/scene.ts'
import { restartIntent, roll, rollbackTo, updateTo } from '../../support/fixtures/rollouts.ts'
import { hostId, reportOf, settings, workerOf } from '../../support/fixtures/services.ts'

/** Version 1 has lasted its watch; then each release was completed, and only the last one is still watched. */
function watched(releases: readonly string[] = ['two'], over: Partial<Settings> = {}): Scene {
  const scene = readyScene({ replicas: 4, settings: settings({ autoRollback: true, ...over }) })
  for (const release of releases) {
    scene.wait(60).tick()
    scene.commit(updateTo(release))
    roll(scene)
  }
  return scene
}

const indexesOf = (scene: Scene) =>
  scene.store.alive.filter(isActive).map(({ index }) => index) as [number, number, ...number[]]

/** The first replica ends three times, each time in spite of a replacement. */
function crashLoop(scene: Scene): ReturnType<Scene['end']> {
  const [index] = indexesOf(scene)
  let change = scene.end(index)
  for (let failure = 2; failure <= 3; failure++) {
    scene.wait(10).tick()
    scene.place()
    change = scene.end(index)
  }
  return change
}

const restartedInPlace = (scene: Scene, index: number) =>
  scene.report([reportOf({ ...scene.row(index), start: scene.row(index).start + 1 }, { ready: false })])

const watchOf = (scene: Scene) => {
  const { watchUntil } = scene.snapshot.rollout
  return watchUntil === null ? null : (watchUntil - scene.ctx.now) / 1_000
}

const historyOf = (scene: Scene) => [...scene.store.rollouts.values()].map(({ state }) => state)

describe('R6: the watch of a completed rollout', () => {
  test('begins with the completion, has a timer, and has lasted when nothing failed until its end', () => {
    const scene = watched()
    expect(scene.snapshot.rollout).toMatchObject({ state: 'COMPLETED', watchUntil: scene.ctx.now + 60_000 })
    expect(scene.snapshot.columns).toMatchObject({ status: 'HEALTHY', completedVersion: 2, provenVersion: 1 })
    expect([...scene.snapshot.timers]).toEqual([['WATCH', scene.ctx.now + 60_000]])
    expect(scene.wait(59).tick().facts).toEqual([])
    const change = scene.wait(1).tick()
    expect(messagesOf(change)).toEqual([
      'Rollout 2 of web has lasted its watch: no replica of version 2 failed for 60 seconds.',
    ])
    expect(scene.snapshot.rollout).toMatchObject({ state: 'COMPLETED', watchUntil: null })
    expect(scene.snapshot.columns).toMatchObject({ completedVersion: 2, previousVersion: 1, provenVersion: 2 })
    expect(scene.snapshot.timers.size).toBe(0)
  })

  test('begins again with a failure and with a restart in place, of the target only', () => {
    const scene = watched()
    const [first, second] = indexesOf(scene)
    scene.wait(50)
    scene.end(first)
    expect(watchOf(scene)).toBe(60)
    scene.wait(50)
    restartedInPlace(scene, second)
    expect(watchOf(scene)).toBe(60)
    expect(scene.wait(59).tick().rollouts).toEqual([])
    expect(scene.wait(1).tick().rollouts).toMatchObject([{ state: 'COMPLETED', watchUntil: null }])
    expect(scene.snapshot.columns.provenVersion).toBe(2)
  })

  test('begins again after the backoff: what waits shows nothing', () => {
    const scene = watched()
    const [index] = indexesOf(scene)
    scene.end(index)
    scene.place()
    scene.end(index)
    expect(scene.row(index).notBefore).toBe(scene.ctx.now + 10_000)
    expect(watchOf(scene)).toBe(70)
    // Another one's trouble takes nothing from it.
    restartedInPlace(scene, indexesOf(scene)[1])
    expect(watchOf(scene)).toBe(70)
  })

  test('goes on over a scale, a kill, a lost host, and the end of a replica that is stopped', () => {
    const scene = watched()
    const [first, second] = indexesOf(scene)
    scene.wait(10).scale(6)
    const killed = scene.row(first)
    scene.kill(first)
    scene.report([reportOf({ ...killed, start: killed.start + 1 }, { ready: false })])
    const worker = workerOf(scene.row(second).hostId ?? hostId(1))
    scene.commit({ kind: 'unreach', worker })
    scene.commit({ kind: 'lose', worker })
    expect(watchOf(scene)).toBe(50)
    expect(scene.snapshot.rollout.troubledAt).toBeNull()
  })

  test('is over when its instant has passed, also if the timer comes late', () => {
    const scene = watched()
    scene.wait(61)
    const change = scene.end(indexesOf(scene)[0])
    expect(messagesOf(change)).toContainEqual(expect.stringContaining('has lasted its watch'))
    expect(scene.snapshot.rollout).toMatchObject({ watchUntil: null, troubledAt: null })
  })

  test.each([
    ['autoRollback off', { autoRollback: false }],
    ['watchSeconds 0', { watchSeconds: 0 }],
  ])('there is none with %s', (_, over) => {
    const scene = watched(['two'], over)
    expect(watchOf(scene)).toBeNull()
    expect(scene.snapshot.columns).toMatchObject({ completedVersion: 2, previousVersion: 1, provenVersion: 2 })
    crashLoop(scene)
    expect(scene.snapshot.columns).toMatchObject({ versionNumber: 2, status: 'CRASH_LOOP' })
  })
})

describe('R6: a crash loop in the watch', () => {
  test('rolls back: the rollout is ROLLED_BACK, and it is as if it had never been complete', () => {
    const scene = watched(['two', 'bad'])
    const change = crashLoop(scene)
    expect(messagesOf(change)).toContain(
      'web is rolled back to version 2, as version 4: version 3 is in CRASH_LOOP, although rollout 3 was complete.',
    )
    expect(change.rollouts).toMatchObject([
      { number: 3, state: 'ROLLED_BACK', watchUntil: null, finishedAt: scene.ctx.now, blocker: null },
      { number: 4, state: 'ROLLING', automatic: true, fromVersion: 2, toVersion: 4, troubledAt: null },
    ])
    expect(scene.snapshot.columns).toMatchObject({ versionNumber: 4, completedVersion: 2, previousVersion: 1 })
    scene.confirmStops()
    roll(scene)
    scene.wait(60).tick()
    expect(historyOf(scene)).toEqual(['COMPLETED', 'COMPLETED', 'ROLLED_BACK', 'COMPLETED'])
    expect(scene.snapshot.columns).toMatchObject({ completedVersion: 4, previousVersion: 1, provenVersion: 4 })
    // What a user rolls back to is never the release that was taken back.
    scene.commit(rollbackTo())
    expect(scene.store.versions.get(5)?.contentNumber).toBe(1)
  })

  test('does nothing once the watch has lasted, nor to a rollback, nor to a first version', () => {
    const lasted = watched()
    lasted.wait(60).tick()
    crashLoop(lasted)
    expect(lasted.snapshot.columns).toMatchObject({ versionNumber: 2, status: 'CRASH_LOOP' })
    const rolledBack = watched(['two', 'three'])
    rolledBack.commit(rollbackTo())
    roll(rolledBack)
    expect(watchOf(rolledBack)).toBe(60)
    crashLoop(rolledBack)
    expect(rolledBack.snapshot.columns).toMatchObject({ versionNumber: 4, status: 'CRASH_LOOP' })
    const first = watched([])
    crashLoop(first)
    expect(first.snapshot.columns).toMatchObject({ versionNumber: 1, status: 'CRASH_LOOP' })
  })

  test('a rollback by a user without a number goes to what the watched rollout came from', () => {
    const scene = watched(['two', 'three'])
    scene.commit(rollbackTo())
    expect(scene.store.versions.get(4)?.contentNumber).toBe(2)
    expect(historyOf(scene)).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED', 'ROLLING'])
    expect(scene.snapshot.columns.provenVersion).toBe(2)
  })
})

describe('R6: what ends a watch before its time', () => {
  const delete_: ServiceIntent = { kind: 'delete', expectedRevision: null, actor: 'alice' }

  test.each([
    ['an update', updateTo('three'), 2],
    ['new settings', updateTo(null, { settings: { maxSurge: { count: 2 } } }), 2],
    ['a delete', delete_, 2],
    ['a rollback', rollbackTo(), 1],
    ['a restart: the same content goes on to be watched', restartIntent(), 1],
  ])('%s, and version %#', (_, intent, proven) => {
    const scene = watched()
    const change = scene.wait(10).commit(intent)
    expect(change.rollouts[0]).toMatchObject({ number: 2, state: 'COMPLETED', watchUntil: null })
    expect(scene.snapshot.timers.has('WATCH')).toBe(false)
    expect(scene.snapshot.columns.provenVersion).toBe(proven)
    expect(scene.store.rollouts.get(2)).toMatchObject({ watchUntil: null })
  })

  test('a version that failed in its watch has not lasted it: a later rollback goes behind it', () => {
    const scene = watched()
    scene.wait(10).end(indexesOf(scene)[0])
    scene.commit(updateTo('bad'))
    expect(scene.snapshot.columns).toMatchObject({ completedVersion: 2, provenVersion: 1 })
    expect(scene.snapshot.rollout.fromVersion).toBe(2)
    scene.place()
    scene.wait(600).tick()
    expect(scene.store.versions.get(4)).toMatchObject({ origin: 'AUTO_ROLLBACK', contentNumber: 1 })
  })

  test('settings and an update in one commit write the watched rollout once', () => {
    const scene = watched()
    const change = scene.commit(updateTo(null, { settings: { maxSurge: { count: 2 } } }), updateTo('three'))
    expect(change.rollouts).toMatchObject([{ number: 2, watchUntil: null }, { number: 3 }])
  })
})
