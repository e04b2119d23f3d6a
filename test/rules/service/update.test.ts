import { describe, expect, test } from 'vitest'
import { messagesOf, readyScene, Scene } from '../../support/drivers/scene.ts'
import { mixOf, profileRevision, roll, updateTo } from '../../support/fixtures/rollouts.ts'
import { content, settings } from '../../support/fixtures/services.ts'

const fixed = [{ name: 'http', port: 8080, protocol: 'TCP' as const }]

describe('R5: a new target', () => {
  test('6 replicas: version by version, each step told, and COMPLETED at the end', () => {
    const scene = readyScene({ replicas: 6 })
    const change = scene.commit(updateTo('two'))
    expect(mixOf(scene.snapshot)).toBe('5 v1 + 3 v2')
    expect(messagesOf(change).at(0)).toBe('alice updated web to version 2.')
    expect(messagesOf(change).at(-1)).toBe(
      'web: rolling 1 → 2, 3 of 6 updated, waiting for web[5] and 2 more to be placed.',
    )
    expect(change.specFact).toBe(1)
    expect(scene.snapshot.rollout).toMatchObject({
      number: 2,
      fromVersion: 1,
      toVersion: 2,
      state: 'ROLLING',
      maxSurge: 2,
      maxUnavailable: 1,
      oldReplicas: 5,
      updatedReplicas: 3,
      deadlineAt: scene.ctx.now + 600_000,
      startedBy: 'alice',
    })
    expect(scene.snapshot.columns).toMatchObject({
      status: 'PROGRESSING',
      updatedReplicas: 3,
      versionNumber: 2,
      rolloutNumber: 2,
    })
    expect(messagesOf(scene.place()).at(-1)).toBe(
      'web: rolling 1 → 2, 3 of 6 updated, waiting for web[5] and 2 more to become ready.',
    )
    expect(roll(scene).at(-1)).toBe('6 v2')
    expect(scene.snapshot.rollout).toMatchObject({
      state: 'COMPLETED',
      availableReplicas: 6,
      oldReplicas: 0,
      blocker: null,
      deadlineAt: null,
    })
    expect(scene.snapshot.columns).toMatchObject({ status: 'HEALTHY', completedVersion: 2, previousVersion: 1 })
  })

  test('the blocker names the one replica that is waited for', () => {
    const scene = readyScene({ replicas: 1 })
    scene.commit(updateTo('two'))
    const change = scene.place()
    const { rollout } = scene.snapshot
    expect(rollout.blocker).toMatchObject({
      reason: 'WAITING_FOR_READY',
      message: 'Waiting for web[1] to become ready.',
      replica: scene.row(1).id,
    })
    expect(messagesOf(change)).toContain('web: rolling 1 → 2, 1 of 1 updated, waiting for web[1] to become ready.')
  })

  test('a third version while the second is half way: SUPERSEDED, and what serves nobody goes first', () => {
    const scene = readyScene({ replicas: 4 })
    scene.commit(updateTo('two'))
    scene.place()
    scene.ready()
    expect(mixOf(scene.snapshot)).toBe('1 v1 + 4 v2')
    const change = scene.commit(updateTo('three'))
    expect(change.rollouts.map(({ number, state, fromVersion }) => [number, state, fromVersion])).toEqual([
      [2, 'SUPERSEDED', 1],
      [3, 'ROLLING', 1],
    ])
    expect(change.rollouts[0]).toMatchObject({ blocker: null, deadlineAt: null, finishedAt: scene.ctx.now })
    // The two of version 2 that are not placed yet go first.
    expect(mixOf(scene.snapshot)).toBe('1 v1 + 2 v2 + 2 v3')
    roll(scene)
    expect(mixOf(scene.snapshot)).toBe('4 v3')
    expect(scene.snapshot.columns).toMatchObject({ completedVersion: 3, previousVersion: 1 })
  })

  test('several in one commit: each has its version and rollout, and nothing of those between is started', () => {
    const scene = readyScene({ replicas: 2 })
    const change = scene.commit(updateTo('two'), updateTo('three'), updateTo('four'))
    expect(change.insertedVersions.map(({ number, contentNumber }) => [number, contentNumber])).toEqual([
      [2, 2],
      [3, 3],
      [4, 4],
    ])
    expect(change.rollouts.map(({ number, state }) => [number, state])).toEqual([
      [2, 'SUPERSEDED'],
      [3, 'SUPERSEDED'],
      [4, 'ROLLING'],
    ])
    expect(mixOf(scene.snapshot)).toBe('2 v1 + 1 v4')
  })

  test('replicas whose content equals the new target’s are kept, ready or not, under the number they were started with', () => {
    const scene = readyScene({ replicas: 4 })
    scene.commit(updateTo('two'))
    scene.place()
    const change = scene.commit(updateTo(null, { overrides: { command: null } }))
    expect(change.insertedVersions).toMatchObject([{ number: 3, contentNumber: 1 }])
    expect(mixOf(scene.snapshot)).toBe('3 v1 + 1 v3')
    expect(scene.snapshot.columns.updatedReplicas).toBe(4)
    roll(scene)
    expect(mixOf(scene.snapshot)).toBe('3 v1 + 1 v3')
    // A replacement of equal content is at the target's number.
    scene.kill(0)
    expect(scene.row(0).versionNumber).toBe(3)
  })

  test('of content that was run long ago, although no replica or rollout names it any more', () => {
    const scene = readyScene({ replicas: 1 })
    for (const release of ['two', 'three', 'four', 'five']) {
      scene.commit(updateTo(release))
      roll(scene)
    }
    expect([...scene.snapshot.versions.keys()]).toEqual([4, 5])
    const change = scene.commit(updateTo('two'))
    expect(change.insertedVersions).toMatchObject([{ number: 6, contentNumber: 2 }])
  })
})

describe('what an update leaves out', () => {
  test('stays as it is; command null goes back to the profile’s; env replaces the own list', () => {
    const env = [{ name: 'A', value: '1', secret: false }]
    const scene = new Scene({ replicas: 0, content: content({ env }) })
    const target = () => scene.snapshot.versions.get(scene.snapshot.columns.versionNumber)?.content
    scene.commit(updateTo('two'))
    scene.commit(updateTo(null, { overrides: { env: [{ name: 'B', value: '2', secret: true }] } }))
    expect(target()).toMatchObject({
      command: ['/bin/serve', 'two'],
      env: [...env, { name: 'B', value: '2', secret: true }],
    })
    scene.commit(updateTo(null, { overrides: { command: null } }))
    expect(target()).toMatchObject({ command: ['/bin/serve'], env: [{ name: 'A' }, { name: 'B' }] })
    scene.commit(updateTo(null, { overrides: { env: [], unsetEnv: ['A'] } }))
    expect(target()?.env).toEqual([])
    scene.commit(updateTo(null, { profile: profileRevision(2, { content: content({ env, cpuMillis: 200 }) }) }))
    expect(target()).toMatchObject({ cpuMillis: 200, env: [] })
  })

  test('two updates of one commit build on one another', () => {
    const scene = new Scene({ replicas: 0 })
    scene.commit(updateTo('two'), updateTo(null, { overrides: { env: [{ name: 'B', value: '2', secret: false }] } }))
    expect(scene.snapshot.versions.get(3)?.content).toMatchObject({
      command: ['/bin/serve', 'two'],
      env: [{ name: 'B' }],
    })
  })
})

describe('settings', () => {
  test('a profile revision that changes only settings: a new number, COMPLETED at once, no replica touched', () => {
    const scene = readyScene({ replicas: 3 })
    const change = scene.commit(
      updateTo(null, { profile: profileRevision(2, { settings: settings({ minReadySeconds: 9 }) }) }),
    )
    expect(change.rollouts).toMatchObject([
      { number: 2, toVersion: 2, fromVersion: 1, state: 'COMPLETED', minReadySeconds: 9 },
    ])
    expect(change.insertedVersions).toMatchObject([
      { number: 2, contentNumber: 1, profileRevisionId: 'profile-revision-2' },
    ])
    expect([change.insertedReplicas, change.updatedReplicas]).toEqual([[], []])
    expect(messagesOf(change)).toEqual([
      'alice updated web to version 2: it has the content of version 1, so its replicas stay.',
      'Rollout 2 of web to version 2 is complete: 3 replicas are available.',
    ])
    expect(scene.snapshot.columns).toMatchObject({ completedVersion: 2, previousVersion: null, availableReplicas: 3 })
  })

  test('of its own last: an update that says nothing leaves them, and null goes back to the profile’s', () => {
    const scene = readyScene({ replicas: 8 })
    scene.commit(updateTo('two', { settings: { maxSurge: { count: 4 } } }))
    expect(scene.snapshot.rollout).toMatchObject({ maxSurge: 4, maxUnavailable: 2 })
    scene.commit(updateTo('three'))
    expect(scene.snapshot.rollout).toMatchObject({ maxSurge: 4, maxUnavailable: 2 })
    scene.commit(
      updateTo(null, { profile: profileRevision(2, { settings: settings({ maxUnavailable: { count: 1 } }) }) }),
    )
    expect(scene.snapshot.rollout).toMatchObject({ maxSurge: 4, maxUnavailable: 1 })
    scene.commit(updateTo(null, { settings: { maxSurge: null } }))
    expect(scene.snapshot.columns).toMatchObject({ ownSettings: {}, settings: { maxSurge: { percent: 25 } } })
  })

  test('R8: alone they are new limits of the same rollout: marks and the full deadline anew', () => {
    const scene = readyScene({ replicas: 4 })
    scene.commit(updateTo('two'))
    scene.wait(500)
    const change = scene.commit(
      updateTo(null, { settings: { maxUnavailable: { count: 4 }, progressDeadlineSeconds: 60 } }),
    )
    expect(change.insertedVersions).toEqual([])
    expect(change.rollouts).toMatchObject([
      {
        number: 2,
        maxUnavailable: 4,
        progressDeadlineSeconds: 60,
        deadlineAt: scene.ctx.now + 60_000,
        leastOutdated: 0,
      },
    ])
    expect(messagesOf(change)[0]).toBe('alice changed the settings of web.')
  })

  test('a longer minReadySeconds takes nothing from those that are available; a shorter one counts at once', () => {
    const scene = readyScene({ replicas: 2 })
    scene.commit(updateTo(null, { settings: { minReadySeconds: 60 } }))
    expect(scene.snapshot.columns.availableReplicas).toBe(2)
    scene.kill(0)
    scene.place()
    scene.ready()
    expect(scene.snapshot.columns.availableReplicas).toBe(1)
    scene.wait(5).commit(updateTo(null, { settings: { minReadySeconds: 5 } }))
    expect(scene.snapshot.columns.availableReplicas).toBe(2)
  })

  test.each([
    [{ minReadySeconds: 600 }, 'minReadySeconds'],
    [{ progressDeadlineSeconds: 10 }, 'progressDeadlineSeconds'],
    [{ maxSurge: { count: 0 } }, 'maxSurge'],
  ])('%j beside the others is refused by its path, and nothing changes', (rollout, field) => {
    const scene = readyScene({ replicas: 1, settings: settings({ minReadySeconds: 10, maxUnavailable: { count: 0 } }) })
    const before = scene.snapshot
    expect(scene.ask(updateTo('two', { settings: rollout, replicas: 5 }))).toMatchObject({
      kind: 'refused',
      refusal: { code: 'INVALID_INPUT', issues: [{ path: ['input', 'settings', 'rollout', field] }] },
    })
    expect(scene.snapshot).toBe(before)
  })

  test('R1: with a fixed port none unavailable is obeyed by a surge, and what cannot work says so', () => {
    const limits = { maxSurge: { percent: 0 }, maxUnavailable: { percent: 25 } }
    const scene = new Scene({ replicas: 1, content: content({ ports: fixed }), settings: settings(limits) })
    scene.place({ ports: [{ name: 'http', port: 8_080, protocol: 'TCP' }] })
    scene.ready()
    scene.commit(updateTo('two', { settings: { maxUnavailable: { count: 0 } } }))
    expect(scene.snapshot.rollout).toMatchObject({ maxSurge: 1, maxUnavailable: 0 })
    const message = 'No host has port 8080 free (1 host: 1 without port 8080 free). Add a host or stop what holds them.'
    const blocker = { reason: 'NO_PORT' as const, message, count: 1, since: scene.ctx.now, until: null, replica: null }
    scene.commit({ kind: 'setBlockers', blockers: [{ replica: scene.row(1).id, blocker }] })
    expect(scene.snapshot.rollout.blocker).toMatchObject({
      reason: 'NO_PORT',
      replica: scene.row(1).id,
      message: `Waiting for a place for web[1]: ${message} None of the old ones may make room, because maxUnavailable is 0: allow 1 unavailable or add a host.`,
    })
    expect(mixOf(scene.snapshot)).toBe('1 v1 + 1 v2')
    // What it says helps.
    scene.commit(updateTo(null, { settings: { maxSurge: { count: 0 }, maxUnavailable: { count: 1 } } }))
    expect(mixOf(scene.snapshot)).toBe('1 v2')
  })

  test('with a fixed port on one host the default limits proceed', () => {
    const limits = { maxSurge: { percent: 0 }, maxUnavailable: { percent: 25 } }
    const scene = readyScene({ replicas: 1, content: content({ ports: fixed }), settings: settings(limits) })
    scene.commit(updateTo('two'))
    expect(scene.snapshot.columns).toMatchObject({ activeReplicas: 1, stoppingReplicas: 1 })
    scene.confirmStops()
    expect(roll(scene).at(-1)).toBe('1 v2')
  })
})

describe('R4: replicas in the same mutation', () => {
  test('are scaled first', () => {
    const scene = readyScene({ replicas: 4 })
    const change = scene.commit(updateTo('two', { replicas: 8 }))
    expect(scene.snapshot.rollout).toMatchObject({ desiredReplicas: 8, maxSurge: 2, maxUnavailable: 2 })
    expect(scene.snapshot.columns.availableReplicas).toBe(4)
    expect(mixOf(scene.snapshot)).toBe('6 v1 + 4 v2')
    expect(messagesOf(change).slice(0, 2)).toEqual([
      'alice scaled web from 4 to 8 replicas.',
      'alice updated web to version 2.',
    ])
    expect(change.specFact).toBe(2)
    expect(roll(scene).at(-1)).toBe('8 v2')
  })

  test('down as well', () => {
    const scene = readyScene({ replicas: 8 })
    scene.commit(updateTo('two', { replicas: 2 }))
    expect(mixOf(scene.snapshot)).toBe('2 v1 + 1 v2')
    expect(roll(scene).at(-1)).toBe('2 v2')
  })

  test('to 0 is COMPLETED, and growing again starts at the target', () => {
    const scene = readyScene({ replicas: 3 })
    scene.commit(updateTo('two', { replicas: 0 }))
    expect(scene.snapshot.rollout).toMatchObject({ number: 2, state: 'COMPLETED' })
    expect(scene.snapshot.columns).toMatchObject({ status: 'STOPPED', completedVersion: 2, previousVersion: 1 })
    scene.confirmStops()
    scene.scale(2)
    expect(mixOf(scene.snapshot)).toBe('2 v2')
  })

  test('alone begin nothing; more than the project holds change nothing', () => {
    const scene = readyScene({ replicas: 2 })
    expect(scene.ask(updateTo(null, { replicas: 3 }))).toEqual({ kind: 'done', changed: true })
    expect(scene.snapshot.rollout.number).toBe(1)
    expect(scene.limit(5).ask(updateTo('two', { replicas: 9 }))).toMatchObject({
      refusal: { code: 'QUOTA_EXCEEDED', limit: 5 },
    })
    expect(scene.snapshot.columns).toMatchObject({ desiredReplicas: 3, versionNumber: 1 })
  })
})

describe('answers', () => {
  test('NO_CHANGE by equal content, however it is said', () => {
    const scene = readyScene({ replicas: 2 })
    for (const intent of [
      updateTo(null),
      updateTo(null, { replicas: 2 }),
      updateTo(null, { overrides: { command: ['/bin/serve'] } }),
      updateTo(null, { settings: { minReadySeconds: 0 } }),
      updateTo(null, { profile: profileRevision(1) }),
      updateTo(null, { startPaused: true }),
    ]) {
      expect(scene.ask(intent)).toMatchObject({ kind: 'refused', refusal: { code: 'NO_CHANGE', path: ['input'] } })
    }
    expect(scene.snapshot.columns.versionNumber).toBe(1)
  })

  test('CONFLICT with the current specRevision, INVALID_STATE while DELETING', () => {
    const scene = readyScene({ replicas: 2 })
    const { specRevision } = scene.snapshot
    expect(scene.ask(updateTo('two', { expectedRevision: specRevision - 1n }))).toMatchObject({
      refusal: { code: 'CONFLICT', path: ['input', 'expectedRevision'], specRevision },
    })
    expect(scene.ask(updateTo('two', { expectedRevision: specRevision }))).toEqual({ kind: 'done', changed: true })
    scene.commit({ kind: 'delete', expectedRevision: null, actor: 'alice' })
    expect(scene.snapshot.rollout).toMatchObject({ number: 2, state: 'CANCELLED', blocker: null })
    expect(scene.ask(updateTo('three'))).toMatchObject({
      refusal: { code: 'INVALID_STATE', path: ['input', 'service'] },
    })
  })
})

describe('endings and stalls', () => {
  test('a version that never gets ready: told at once, STALLED at the deadline, and the old ones serve on', () => {
    const scene = readyScene({ replicas: 4, settings: settings({ progressDeadlineSeconds: 60 }) })
    scene.commit(updateTo('two'))
    scene.place()
    expect(scene.snapshot.rollout.blocker).toMatchObject({
      reason: 'WAITING_FOR_READY',
      message: 'Waiting for web[3] and 1 more to become ready.',
    })
    scene.confirmStops()
    const change = scene.wait(60).tick()
    expect(messagesOf(change)).toEqual([
      'Rollout 2 of web has made no progress for 60 s. Waiting for web[3] and 1 more to become ready.',
    ])
    expect(scene.snapshot.columns).toMatchObject({ status: 'STALLED', availableReplicas: 3, activeReplicas: 5 })
    expect(scene.snapshot.rollout).toMatchObject({ state: 'STALLED', finishedAt: null })
    scene.ready()
    expect(scene.snapshot.rollout.state).toBe('ROLLING')
    expect(scene.snapshot.columns.status).toBe('PROGRESSING')
  })

  test('one that is ready and dies within minReadySeconds is never available, and never completes', () => {
    const scene = readyScene({ replicas: 2 })
    scene.commit(updateTo('two', { settings: { minReadySeconds: 30 } }))
    for (let round = 0; round < 3; round++) {
      scene.place()
      scene.ready()
      expect(scene.snapshot.columns.readyReplicas).toBe(3)
      scene.wait(10)
      scene.end(2)
      scene.wait(40).tick()
    }
    expect(scene.snapshot.columns).toMatchObject({ status: 'CRASH_LOOP', availableReplicas: 2, completedVersion: 1 })
    expect(scene.snapshot.rollout).toMatchObject({ availableReplicas: 0, bestAvailable: 0 })
    expect(scene.snapshot.rollout.blocker).toMatchObject({ reason: 'CRASH_LOOP', replica: scene.row(2).id })
  })

  test('a replica killed by hand in the middle is replaced at its own version, or at the target’s number', () => {
    const scene = readyScene({ replicas: 4 })
    scene.commit(updateTo('two'))
    scene.place()
    scene.ready()
    scene.confirmStops()
    expect(mixOf(scene.snapshot)).toBe('1 v1 + 4 v2')
    const old = [...scene.snapshot.replicas.values()].find((row) => row.versionNumber === 1)
    scene.commit({ kind: 'kill', replica: old?.id ?? ('' as never), actor: 'bob' })
    expect(roll(scene).at(-1)).toBe('4 v2')
  })

  test('deleted while rolling: all stop, CANCELLED', () => {
    const scene = readyScene({ replicas: 3 })
    scene.commit(updateTo('two'))
    scene.commit({ kind: 'delete', expectedRevision: null, actor: 'alice' })
    expect(scene.snapshot.rollout.state).toBe('CANCELLED')
    scene.confirmStops()
    expect(scene.snapshot.columns.deletedAt).toBe(scene.ctx.now)
  })

  test('1,200 replicas: at most 500 rows in a commit, and it goes on by itself', () => {
    const scene = readyScene({ replicas: 1 })
    scene.scale(1200)
    for (let round = 0; round < 4; round++) {
      scene.tick()
      scene.place()
      scene.ready()
    }
    expect(scene.snapshot.columns.availableReplicas).toBe(1200)
    const change = scene.commit(updateTo('two'))
    expect(change.insertedReplicas.length + change.updatedReplicas.length).toBe(500)
    expect(scene.snapshot.timers.get('CONTINUE')).toBe(scene.ctx.now)
  })
})
