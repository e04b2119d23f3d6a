import { describe, expect, test } from 'vitest'
import type { Version } from '../../../src/model/service.ts'
import { messagesOf, readyScene, Scene } from '../../support/drivers/scene.ts'
import {
  mixOf,
  pauseIntent,
  restartIntent,
  resumeIntent,
  roll,
  rollbackTo,
  updateTo,
} from '../../support/fixtures/rollouts.ts'
import { content, grantOf, reportOf, settings } from '../../support/fixtures/services.ts'

/** A service that has run these releases, each completed, the last one now. */
function havingRun(...releases: string[]): Scene {
  const scene = readyScene({ replicas: 4 })
  for (const release of releases) {
    scene.commit(updateTo(release))
    roll(scene)
  }
  return scene
}

const versionOf = (scene: Scene, number: number): Version => {
  const version = scene.store.versions.get(number)
  if (version === undefined) throw new Error(`There is no version ${number}.`)
  return version
}

describe('R6: back', () => {
  test('with a rollout unfinished to its `from`: the bad ones go first and no available old one is stopped', () => {
    const scene = readyScene({ replicas: 4 })
    scene.commit(updateTo('bad'))
    scene.place()
    scene.confirmStops()
    expect(mixOf(scene.snapshot)).toBe('3 v1 + 2 v2')
    const change = scene.commit(rollbackTo())
    expect(
      change.rollouts.map(({ number, state, fromVersion, toVersion }) => [number, state, fromVersion, toVersion]),
    ).toEqual([
      [2, 'ROLLED_BACK', 1, 2],
      [3, 'ROLLING', 1, 3],
    ])
    expect(change.insertedVersions).toMatchObject([{ number: 3, contentNumber: 1, origin: 'ROLLBACK' }])
    expect(scene.snapshot.columns.availableReplicas).toBe(3)
    expect(mixOf(scene.snapshot)).toBe('3 v1 + 1 v3')
    expect(messagesOf(change)[0]).toBe('alice rolled web back to version 1, as version 3.')
    expect(messagesOf(change).at(-1)).toBe('web: rolling 1 → 3, 4 of 4 updated, waiting for web[3] to be placed.')
    roll(scene)
    expect(mixOf(scene.snapshot)).toBe('3 v1 + 1 v3')
    expect(scene.snapshot.columns).toMatchObject({ completedVersion: 3, previousVersion: null })
  })

  test('of a crash-looping version: CRASH_LOOP, the old ones serve on, and the rollback ends it', () => {
    const scene = readyScene({ replicas: 2 })
    scene.commit(updateTo('bad'))
    for (let failure = 0; failure < 3; failure++) {
      scene.place()
      scene.end(2, { endReason: 'GAVE_UP' })
      scene.wait(40).tick()
    }
    expect(scene.snapshot.columns).toMatchObject({ status: 'CRASH_LOOP', availableReplicas: 2 })
    expect(scene.snapshot.rollout.blocker).toMatchObject({ reason: 'CRASH_LOOP', replica: scene.row(2).id })
    scene.commit(rollbackTo())
    expect(scene.snapshot.columns).toMatchObject({ status: 'HEALTHY', availableReplicas: 2, activeReplicas: 2 })
    expect(scene.snapshot.rollout.state).toBe('COMPLETED')
    expect(scene.snapshot.slots).toEqual([])
  })

  test('else to the last completed version with other content: restarts and settings are not other content', () => {
    const scene = havingRun('two', 'three')
    scene.commit(restartIntent())
    roll(scene)
    scene.commit(rollbackTo())
    expect(versionOf(scene, 5)).toMatchObject({ contentNumber: 2, origin: 'ROLLBACK' })
    roll(scene)
    scene.commit(rollbackTo())
    expect(versionOf(scene, 6).contentNumber).toBe(3)
  })

  test('what was never complete is not "previous"', () => {
    const scene = havingRun('two')
    scene.commit(updateTo('bad'))
    scene.commit(updateTo('three'))
    roll(scene)
    scene.commit(rollbackTo())
    expect(versionOf(scene, 5).contentNumber).toBe(2)
  })

  test('to a given number, with its profile, and again to what was left', () => {
    const scene = havingRun('two', 'three')
    expect(scene.ask(rollbackTo(versionOf(scene, 1)))).toEqual({ kind: 'done', changed: true })
    roll(scene)
    expect(scene.snapshot.versions.get(4)).toMatchObject({
      contentNumber: 1,
      content: content(),
      overrides: { command: null },
    })
    scene.commit(rollbackTo())
    expect(versionOf(scene, 5).contentNumber).toBe(3)
  })

  test('while paused it sets the target and stays paused', () => {
    const scene = readyScene({ replicas: 4 })
    scene.commit(updateTo('bad'))
    scene.commit(pauseIntent)
    scene.commit(rollbackTo())
    expect(scene.snapshot.columns).toMatchObject({ paused: true, status: 'PAUSED', versionNumber: 3 })
    expect(scene.snapshot.rollout).toMatchObject({ state: 'PAUSED', deadlineAt: null })
    expect(mixOf(scene.snapshot)).toBe('3 v1 + 2 v2')
    scene.commit(resumeIntent)
    expect(mixOf(scene.snapshot)).toBe('3 v1 + 1 v3')
  })

  test('neither the replicas nor the settings are rolled back', () => {
    const scene = readyScene({ replicas: 2 })
    scene.commit(updateTo('two', { replicas: 5, settings: { maxSurge: { count: 4 } } }))
    roll(scene)
    scene.commit(rollbackTo())
    expect(scene.snapshot.rollout).toMatchObject({ desiredReplicas: 5, maxSurge: 4 })
  })
})

describe('answers', () => {
  test('INVALID_STATE with one version, or none other that was complete', () => {
    const scene = new Scene({ replicas: 2 })
    expect(scene.ask(rollbackTo())).toMatchObject({
      refusal: {
        code: 'INVALID_STATE',
        path: ['input', 'service'],
        message: expect.stringContaining('one version only'),
      },
    })
    scene.commit(updateTo('two'))
    expect(scene.snapshot.rollout.fromVersion).toBeNull()
    expect(scene.ask(rollbackTo())).toMatchObject({
      refusal: { code: 'INVALID_STATE', message: expect.stringContaining('Name a version by toVersion.') },
    })
    expect(scene.ask(rollbackTo(versionOf(scene, 1)))).toEqual({ kind: 'done', changed: true })
  })

  test('NO_CHANGE by equal content', () => {
    const scene = havingRun('two')
    scene.commit(restartIntent())
    expect(scene.ask(rollbackTo())).toMatchObject({ refusal: { code: 'NO_CHANGE', path: ['input', 'toVersion'] } })
    expect(scene.ask(rollbackTo(versionOf(scene, 2)))).toMatchObject({ refusal: { code: 'NO_CHANGE' } })
  })

  test('CONFLICT, and INVALID_STATE while DELETING', () => {
    const scene = havingRun('two')
    expect(scene.ask(rollbackTo(null, { expectedRevision: 0n }))).toMatchObject({ refusal: { code: 'CONFLICT' } })
    scene.commit({ kind: 'delete', expectedRevision: null, actor: 'alice' })
    expect(scene.ask(rollbackTo())).toMatchObject({ refusal: { code: 'INVALID_STATE' } })
  })
})

describe('automatic rollback', () => {
  const automatic = (over = {}) =>
    readyScene({ replicas: 4, settings: settings({ autoRollback: true, progressDeadlineSeconds: 60, ...over }) })

  test('on STALLED, in the commit that says so, and once', () => {
    const scene = automatic()
    scene.commit(updateTo('bad'))
    scene.place()
    scene.confirmStops()
    const change = scene.wait(60).tick()
    expect(messagesOf(change)).toEqual([
      expect.stringMatching(/^Rollout 2 of web has made no progress for 60 s\./),
      'web is rolled back to version 1, as version 3: version 2 made no progress for 60 s.',
      expect.stringContaining('being stopped: another version takes its place'),
      expect.stringContaining('is created (version 3)'),
      'web: rolling 1 → 3, 4 of 4 updated, waiting for web[3] to be placed.',
    ])
    expect(change.rollouts.map(({ state, automatic: own }) => [state, own])).toEqual([
      ['ROLLED_BACK', false],
      ['ROLLING', true],
    ])
    expect(change.rollouts[1]).toMatchObject({
      startedBy: 'xce',
      number: 3,
      fromVersion: 1,
      deadlineAt: scene.ctx.now + 60_000,
    })
    expect(change.specFact).toBeNull()
    expect(scene.snapshot.columns).toMatchObject({ availableReplicas: 3, versionNumber: 3, status: 'PROGRESSING' })
    expect(versionOf(scene, 3)).toMatchObject({ origin: 'AUTO_ROLLBACK', createdBy: 'xce', contentNumber: 1 })
    // A rollback is not rolled back.
    scene.place()
    scene.wait(60).tick()
    expect(scene.snapshot.columns).toMatchObject({ versionNumber: 3, status: 'STALLED' })
  })

  test('on CRASH_LOOP of the target, before the deadline', () => {
    const scene = automatic({ progressDeadlineSeconds: 600 })
    scene.commit(updateTo('bad'))
    for (let failure = 0; failure < 3; failure++) {
      scene.place()
      scene.end(3)
      scene.wait(10).tick()
    }
    expect(versionOf(scene, 3)).toMatchObject({ origin: 'AUTO_ROLLBACK' })
    expect(scene.store.changes.flatMap(messagesOf)).toContain(
      'web is rolled back to version 1, as version 3: version 2 is in CRASH_LOOP.',
    )
  })

  /** Version 2 has three new replicas: one waits for quota, the other two have a place. */
  function halfPlaced(over = {}): Scene {
    const scene = automatic(over)
    scene.commit(updateTo('bad'))
    scene.confirmStops()
    const [waiting, ...rest] = scene.store.alive.filter((row) => row.state === 'PENDING')
    if (waiting === undefined || rest.length === 0) throw new Error('Two replicas at least are new.')
    const blocker = { reason: 'QUOTA', message: 'No quota.', count: 1, since: scene.ctx.now, until: null } as const
    scene.commit({ kind: 'setBlockers', blockers: [{ replica: waiting.id, blocker: { ...blocker, replica: null } }] })
    const ports = [{ name: 'http', port: 25_000, protocol: 'TCP' }] as const
    scene.commit({ kind: 'grant', grants: rest.map(({ id }) => grantOf(id, { ports, lastPort: 25_000 })) })
    return scene
  }

  test('on CRASH_LOOP while a sibling waits for quota, and the hold names what fails', () => {
    const scene = halfPlaced()
    const { index } = scene.store.alive.find((row) => row.state === 'STARTING') ?? { index: -1 }
    expect(scene.snapshot.rollout.blocker).toMatchObject({ reason: 'QUOTA' })
    scene.report([reportOf({ ...scene.row(index), start: 2 }, { ready: false })])
    expect(scene.snapshot.rollout.blocker).toMatchObject({
      reason: 'WAITING_FOR_READY',
      replica: scene.row(index).id,
      message: `Waiting for web[${index}] to become ready; web[${index}] has been restarted in place once: read its log.`,
    })
    for (let failure = 0; failure < 3; failure++) {
      expect(scene.snapshot.columns.versionNumber).toBe(2)
      const row = scene.row(index)
      const ports = [{ name: 'http', port: 25_001 + failure, protocol: 'TCP' }] as const
      if (row.state === 'PENDING') scene.commit({ kind: 'grant', grants: [grantOf(row.id, { ports })] })
      scene.end(index)
      scene.wait(10).tick()
    }
    expect(scene.snapshot.columns.versionNumber).toBe(3)
  })

  test('on STALLED while a sibling waits for quota', () => {
    const scene = halfPlaced()
    const change = scene.wait(60).tick()
    expect(messagesOf(change)[0]).toMatch(
      /^Rollout 2 of web has made no progress for 60 s\. Waiting for web\[\d\] to become/,
    )
    expect(scene.snapshot.columns.versionNumber).toBe(3)
  })

  test('on STALLED, not while the only one that is not available has not been placed yet', () => {
    const scene = automatic()
    scene.commit(updateTo('two'))
    scene.wait(60).tick()
    expect(scene.snapshot.rollout).toMatchObject({ state: 'STALLED', toVersion: 2, blocker: { reason: 'QUEUED' } })
  })

  test('is off by default', () => {
    const scene = readyScene({ replicas: 4, settings: settings({ progressDeadlineSeconds: 60 }) })
    scene.commit(updateTo('bad'))
    scene.place()
    scene.wait(60).tick()
    expect(scene.snapshot.columns).toMatchObject({ versionNumber: 2, status: 'STALLED' })
  })

  test('may be asked for by an update, for its rollout', () => {
    const scene = readyScene({ replicas: 4 })
    scene.commit(updateTo('bad', { settings: { autoRollback: true, progressDeadlineSeconds: 5 } }))
    scene.place()
    scene.wait(5).tick()
    expect(scene.snapshot.columns.versionNumber).toBe(3)
  })

  test('never while paused, and not of a first version', () => {
    const scene = automatic()
    scene.commit(updateTo('bad'))
    scene.commit(pauseIntent)
    scene.wait(600).tick()
    expect(scene.snapshot.columns).toMatchObject({ versionNumber: 2, status: 'PAUSED' })
    const first = new Scene({ replicas: 1, settings: settings({ autoRollback: true, progressDeadlineSeconds: 5 }) })
    first.place()
    first.wait(5).tick()
    expect(first.snapshot.columns).toMatchObject({ versionNumber: 1, status: 'STALLED' })
  })

  test('never a rollback of a rollback, nor of a restart: its content has lasted its watch', () => {
    const scene = automatic()
    scene.commit(updateTo('two'))
    roll(scene)
    scene.wait(60).tick()
    for (const intent of [restartIntent(), rollbackTo()]) {
      scene.commit(intent)
      const { versionNumber } = scene.snapshot.columns
      scene.place()
      scene.wait(60).tick()
      expect(scene.snapshot.columns).toMatchObject({ status: 'STALLED', versionNumber })
    }
  })

  test.each(['QUOTA', 'NO_HOST', 'NO_CAPACITY', 'NO_PORT', 'SPREAD'] as const)(
    'not while it waits for %s: a busy cluster is no bad release',
    (reason) => {
      const scene = automatic()
      scene.commit(updateTo('two'))
      const waiting = scene.store.alive.filter((row) => row.state === 'PENDING')
      const blocker = { reason, message: 'Full.', count: 1, since: scene.ctx.now, until: null, replica: null }
      scene.commit({ kind: 'setBlockers', blockers: waiting.map((row) => ({ replica: row.id, blocker })) })
      scene.wait(60).tick()
      expect(scene.snapshot.columns).toMatchObject({ status: 'STALLED', versionNumber: 2 })
      expect(scene.snapshot.rollout.blocker).toMatchObject({ reason })
      // When it is placed and does not come up within another deadline, it was the release.
      expect(scene.snapshot.rollout.deadlineAt).toBeNull()
      scene.wait(1_000).place()
      expect(scene.snapshot.columns).toMatchObject({ status: 'STALLED', versionNumber: 2 })
      scene.wait(59).tick()
      expect(scene.snapshot.columns.versionNumber).toBe(2)
      scene.wait(1).tick()
      expect(scene.snapshot.columns.versionNumber).toBe(3)
    },
  )
})
