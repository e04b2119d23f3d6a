import { describe, expect, test } from 'vitest'
import type { ReplicaReport } from '../../../src/model/intent.ts'
import { dataOf, messagesOf, readyScene, Scene } from '../../support/drivers/scene.ts'
import { updateTo } from '../../support/fixtures/rollouts.ts'
import { content, hostId, reporter, reportOf, settings } from '../../support/fixtures/services.ts'

describe('what is passed over', () => {
  const cases: [string, (scene: Scene) => ReturnType<Scene['commit']>][] = [
    ['another host', (scene) => scene.report([reportOf(scene.row(0), { ready: false })], { hostId: hostId(2) })],
    [
      'a replica that is not known',
      (scene) => scene.report([{ ...reportOf(scene.row(0)), replica: 'id-unknown' as never }]),
    ],
    [
      'the same sequence once more',
      (scene) =>
        scene.commit({
          kind: 'report',
          reporter: reporter(),
          sequence: 1,
          reports: [reportOf(scene.row(0), { ready: false })],
        }),
    ],
    [
      'an older epoch with a higher sequence',
      (scene) =>
        scene.commit({
          kind: 'report',
          reporter: reporter({ epoch: 0 }),
          sequence: 9,
          reports: [reportOf(scene.row(0), { ready: false })],
        }),
    ],
    ['an older start', (scene) => scene.report([reportOf({ ...scene.row(0), start: 1 }, { ready: false })])],
    [
      'a step back of the same start',
      (scene) => scene.report([reportOf(scene.row(0), { state: 'STARTING', ready: false })]),
    ],
  ]
  test.each(cases)('%s', (_, happen) => {
    const scene = readyScene({ replicas: 1 })
    scene.report([reportOf({ ...scene.row(0), start: 2 })])
    const before = scene.row(0)
    const change = happen(scene)
    expect(change.facts).toEqual([])
    expect(change.fences).toHaveLength(1)
    expect(scene.row(0)).toEqual(before)
  })

  test('a report of a replica that has ended', () => {
    const scene = readyScene({ replicas: 1 })
    const gone = scene.row(0)
    scene.end(0)
    expect(scene.report([reportOf(gone)]).facts).toEqual([])
  })
})

test('the fence of a report is in the change, and the report is remembered on the row', () => {
  const scene = new Scene({ replicas: 1 })
  scene.place()
  const change = scene.report([reportOf(scene.row(0))], { epoch: 7 })
  expect(change.fences).toEqual([{ workerId: 'worker-1', epoch: 7 }])
  expect(scene.row(0)).toMatchObject({
    reportedEpoch: 7,
    reportedSequence: 1,
    state: 'RUNNING',
    startedAt: scene.ctx.now,
  })
})

describe('R9: readiness', () => {
  test('without probes it is ready when the process is confirmed', () => {
    const scene = new Scene({ replicas: 1, content: content({ readiness: null }) })
    scene.place()
    scene.report([reportOf(scene.row(0), { state: 'STARTING', ready: false })])
    expect(scene.row(0).ready).toBe(false)
    scene.report([reportOf(scene.row(0), { ready: false })])
    expect(scene.row(0)).toMatchObject({ ready: true, available: true })
  })

  test('with a startup probe alone it is ready when the worker says so', () => {
    const startup = content().readiness
    const scene = new Scene({ replicas: 1, content: content({ startup, readiness: null }) })
    scene.place()
    scene.report([reportOf(scene.row(0), { ready: false })])
    expect(scene.row(0)).toMatchObject({ state: 'RUNNING', ready: false })
    scene.report([reportOf(scene.row(0))])
    expect(scene.row(0)).toMatchObject({ ready: true, available: true })
  })

  test('with one it is ready when the worker says so, and not ready when it says that', () => {
    const scene = new Scene({ replicas: 1 })
    scene.place()
    scene.report([reportOf(scene.row(0), { ready: false })])
    expect(scene.row(0)).toMatchObject({ state: 'RUNNING', ready: false })
    expect(scene.snapshot.columns.blockers).toMatchObject([{ reason: 'WAITING_FOR_READY', replica: scene.row(0).id }])
    expect(messagesOf(scene.report([reportOf(scene.row(0))]))).toContain('Replica 0 of web is ready.')
    expect(messagesOf(scene.report([reportOf(scene.row(0), { ready: false })]))).toEqual([
      'Replica 0 of web is not ready any more.',
    ])
    expect(scene.row(0)).toMatchObject({ ready: false, readySince: null, available: false, availableSince: null })
    expect(scene.snapshot.columns.status).toBe('DEGRADED')
  })

  /** Web[0] runs again after a restart in place and is ready; the scene tells how long it has to stay so. */
  function readyAgain(scene: Scene): number | undefined {
    scene.report([reportOf({ ...scene.row(0), start: 2 }, { ready: false })])
    scene.report([reportOf(scene.row(0))])
    expect(scene.row(0).ready).toBe(true)
    if (scene.row(0).available) return 0
    const dueAt = scene.snapshot.timers.get('MIN_READY') ?? 0
    const seconds = (dueAt - scene.ctx.now) / 1_000
    scene.wait(seconds - 1).tick()
    expect(scene.row(0).available).toBe(false)
    scene.wait(1).tick()
    expect(scene.row(0).available).toBe(true)
    return seconds
  }

  test.each([
    [0, 10],
    [5, 10],
    [20, 20],
  ])('minReadySeconds %i: after a restart in place during the rollout it has to be ready for %i s', (given, needed) => {
    const scene = new Scene({ replicas: 2, settings: settings({ minReadySeconds: given }) })
    scene.place()
    expect(readyAgain(scene)).toBe(needed)
    // It is content that is not trusted, not a replica.
    scene.report([reportOf(scene.row(1))])
    expect(scene.row(1)).toMatchObject({ ready: true, available: false })
    expect(scene.snapshot.rollout.blocker?.message).toContain(`have been ready for ${needed} s`)
  })

  test('not once the rollout is complete; while it is watched it has', () => {
    expect(readyAgain(readyScene({ replicas: 2 }))).toBe(0)
    const scene = readyScene({ replicas: 2, settings: settings({ autoRollback: true }) })
    expect(readyAgain(scene)).toBe(10)
    scene.wait(60).tick()
    scene.report([reportOf({ ...scene.row(1), start: 2 }, { ready: false })])
    scene.report([reportOf(scene.row(1))])
    expect(scene.row(1).available).toBe(true)
  })

  test('what has failed in this rollout counts for its target only, and the next rollout begins without it', () => {
    const scene = readyScene({ replicas: 2 })
    scene.commit(updateTo('two'))
    const fresh = scene.store.alive.find((row) => row.versionNumber === 2)
    scene.place()
    // An old replica that fails is nothing that the release did.
    expect(readyAgain(scene)).toBe(0)
    expect(scene.snapshot.rollout.troubledAt).toBeNull()
    scene.end(fresh?.index ?? -1)
    expect(scene.snapshot.rollout.troubledAt).toBe(scene.ctx.now)
    scene.commit(updateTo('three'))
    expect(scene.snapshot.rollout.troubledAt).toBeNull()
  })

  test('available after minReadySeconds by the clock, with one timer; a break begins it anew', () => {
    const scene = new Scene({ replicas: 1, settings: settings({ minReadySeconds: 5 }) })
    scene.place()
    scene.ready()
    const since = scene.ctx.now
    expect(scene.row(0)).toMatchObject({ ready: true, readySince: since, available: false })
    expect(scene.snapshot.timers.get('MIN_READY')).toBe(since + 5_000)
    expect(scene.snapshot.rollout.blocker).toMatchObject({ reason: 'MIN_READY', until: since + 5_000 })
    scene.wait(4).report([reportOf(scene.row(0), { ready: false })])
    expect(scene.snapshot.timers.has('MIN_READY')).toBe(false)
    scene.ready()
    scene.wait(4.999)
    expect(scene.tick().facts).toEqual([])
    scene.wait(0.001).tick()
    expect(scene.row(0)).toMatchObject({ available: true, availableSince: scene.ctx.now })
    expect(scene.snapshot.columns.status).toBe('HEALTHY')
  })

  test('another start is not ready first, even within one batch, and its address is another', () => {
    const scene = readyScene({ replicas: 1, settings: settings({ minReadySeconds: 0 }) })
    const row = scene.row(0)
    scene.wait(30)
    const change = scene.report([
      reportOf({ ...row, start: 2 }, { state: 'STARTING', ready: false }),
      reportOf({ ...row, start: 2 }),
    ])
    expect(scene.row(0)).toMatchObject({ start: 2, ready: true, readySince: scene.ctx.now, startedAt: scene.ctx.now })
    expect(dataOf(change).removed).toEqual([`${row.id}:http:1`])
    expect(dataOf(change).upserted).toMatchObject([{ id: `${row.id}:http:2`, ready: true }])
    expect(messagesOf(change)).toEqual([
      'Replica 0 of web is restarted in place (start 2).',
      'Replica 0 of web is ready. This is the 2nd time.',
    ])
  })

  test('a restart that is only begun leaves the table at once', () => {
    const scene = readyScene({ replicas: 1 })
    scene.report([reportOf({ ...scene.row(0), start: 2 }, { state: 'STARTING', ready: false })])
    expect(scene.row(0)).toMatchObject({
      state: 'STARTING',
      start: 2,
      ready: false,
      reportedReady: false,
      startedAt: null,
    })
    expect(scene.store.table.size).toBe(0)
    expect(scene.store.rows.size).toBe(1)
  })
})

describe('ends', () => {
  test.each([
    ['EXITED', { exitCode: 3 }, 'Replica 0 of web on host node1 ended with exit code 3.'],
    ['EXITED', { exitCode: null, exitSignal: 'KILL' }, 'Replica 0 of web on host node1 ended by signal KILL.'],
    [
      'GAVE_UP',
      { exitCode: 1 },
      'Replica 0 of web on host node1 ended with exit code 1 and its restarts in place are used up.',
    ],
    [
      'START_FAILED',
      { exitCode: null, message: 'no such file.' },
      'Replica 0 of web on host node1 could not be started: no such file.',
    ],
  ] as [ReplicaReport['endReason'], Partial<ReplicaReport>, string][])('%s %o', (endReason, over, sentence) => {
    const scene = readyScene({ replicas: 1 })
    const gone = scene.row(0)
    expect(messagesOf(scene.end(0, { endReason, ...over }))).toEqual([sentence])
    expect(scene.store.rows.get(gone.id)).toMatchObject({
      state: 'ENDED',
      endReason,
      holdsQuota: false,
      endedAt: scene.ctx.now,
      ...(over.exitCode !== undefined && { exitCode: over.exitCode }),
    })
    expect(scene.row(0)).toMatchObject({ state: 'PENDING', index: 0, holdsQuota: true, versionNumber: 1 })
    expect(scene.store.usedQuota).toBe(1)
  })

  test('the end frees host and ports, wakes placement, and the address is gone', () => {
    const scene = readyScene({ replicas: 1 })
    const gone = scene.row(0)
    const change = scene.end(0)
    expect(change.hosts).toMatchObject([
      { hostId: hostId(1), allocation: null, cpuMillis: -100, memoryMiB: -64, portsReleased: [{ replicaId: gone.id }] },
    ])
    expect(change.quota.delta).toBe(0)
    expect(dataOf(change)).toMatchObject({
      wakesPlacement: true,
      removed: [`${gone.id}:http:1`],
      ended: [gone.id],
      hosts: [hostId(1)],
    })
  })

  test('a stopping one ends for the reason it was stopped for, and keeps how its process ended', () => {
    const scene = readyScene({ replicas: 2 })
    const gone = scene.row(1)
    scene.scale(1)
    const change = scene.report([
      reportOf(gone, { state: 'ENDED', ready: false, endReason: 'STOPPED', exitSignal: 'TERM' }),
    ])
    expect(scene.store.rows.get(gone.id)).toMatchObject({
      endReason: 'SCALED_DOWN',
      exitSignal: 'TERM',
      state: 'ENDED',
    })
    expect(messagesOf(change)).toEqual(['Replica 1 of web has stopped: the service was scaled down.'])
    expect(change.quota.delta).toBe(-1)
  })

  test('one that no one stopped and whose worker let it go is HOST_LOST', () => {
    const scene = readyScene({ replicas: 1 })
    const gone = scene.row(0)
    scene.end(0, { endReason: 'STOPPED', exitCode: 0 })
    expect(scene.store.rows.get(gone.id)?.endReason).toBe('HOST_LOST')
    expect(scene.row(0).state).toBe('PENDING')
  })
})
