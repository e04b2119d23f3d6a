import { describe, expect, test } from 'vitest'
import type { WorkerIntent } from '../../../src/model/intent.ts'
import type { ServiceChange } from '../../../src/rules/draft/change.ts'
import { dataOf, messagesOf, readyScene, Scene } from '../../support/drivers/scene.ts'
import { updateTo } from '../../support/fixtures/rollouts.ts'
import { grantOf, hostId, reporter, reportOf, settings, workerOf } from '../../support/fixtures/services.ts'

const of = (kind: WorkerIntent['kind'], host = 1): WorkerIntent => ({ kind, worker: workerOf(hostId(host)) })
const full = (scene: Scene, indexes: readonly number[]): ServiceChange => {
  const reports = indexes.map((index) => reportOf(scene.row(index)))
  return scene.commit({ kind: 'report', reporter: reporter(), sequence: ++scene.sequence, reports, full: true })
}
const states = (scene: Scene) =>
  scene.store.alive.map(
    ({ index, state, ready, leaving }) =>
      `${index} ${state}${ready ? ' ready' : ''}${leaving === null ? '' : ` ${leaving}`}`,
  )

describe('unreach', () => {
  test('addresses leave in the commit, nothing is stopped, and the service says why', () => {
    const scene = readyScene()
    const change = scene.commit(of('unreach'))
    expect(states(scene)).toEqual(['0 RUNNING', '1 RUNNING', '2 RUNNING'])
    expect(dataOf(change).upserted.map(({ ready, serving }) => [ready, serving])).toEqual([
      [false, false],
      [false, false],
      [false, false],
    ])
    expect(scene.snapshot.columns).toMatchObject({
      status: 'DEGRADED',
      readyReplicas: 0,
      blockers: [{ reason: 'HOST_UNREACHABLE', count: 3 }],
    })
    expect(messagesOf(change)).toEqual([
      'Replicas 0–2 of web can’t be reached: the worker on host node1 is silent.'.replace('’', "'"),
    ])
    expect(change.workerPreconditions).toEqual([
      { workerId: workerOf(hostId(1)), reachability: 'UNREACHABLE', draining: null },
    ])
  })

  test('again it changes nothing; another host’s replicas are none of its business', () => {
    const scene = readyScene()
    expect(scene.ask(of('unreach', 2))).toEqual({ kind: 'done', changed: false })
    scene.commit(of('unreach'))
    expect(scene.ask(of('unreach'))).toEqual({ kind: 'done', changed: false })
  })

  test('a report does not make it ready; a full one does, in that commit, with what is missing replaced at once', () => {
    const scene = readyScene({ replicas: 2 })
    scene.commit(of('unreach'))
    scene.ready()
    expect(scene.snapshot.columns.readyReplicas).toBe(0)
    const change = full(scene, [0])
    expect(states(scene)).toEqual(['0 RUNNING ready', '1 PENDING'])
    expect(change.updatedReplicas.find(({ index }) => index === 1)).toMatchObject({
      state: 'ENDED',
      endReason: 'HOST_LOST',
    })
    expect(scene.snapshot.slots).toEqual([])
    expect(change.workerPreconditions).toEqual([
      { workerId: workerOf(hostId(1)), reachability: 'REACHABLE', draining: null },
    ])
  })

  test('min-ready begins anew with the return', () => {
    const scene = readyScene({ replicas: 1, settings: settings({ minReadySeconds: 5 }) })
    scene.wait(5).tick()
    expect(scene.row(0).available).toBe(true)
    scene.commit(of('unreach'))
    scene.wait(60)
    full(scene, [0])
    expect(scene.row(0)).toMatchObject({ ready: true, available: false, readySince: scene.ctx.now })
  })

  test('a full report does not take for lost what was granted and never heard of, nor what a later report told of', () => {
    const scene = new Scene({ replicas: 2 })
    scene.place()
    scene.report([reportOf(scene.row(0))])
    scene.commit({ kind: 'report', reporter: reporter(), sequence: scene.sequence, reports: [], full: true })
    expect(states(scene)).toEqual(['0 RUNNING ready', '1 STARTING'])
  })
})

describe('lose', () => {
  test('ends what is there as no failure, replaces it with the same indexes and the quota it had; its host keeps the ports', () => {
    const scene = readyScene()
    scene.commit(of('unreach'))
    const change = scene.commit(of('lose'))
    expect(change.updatedReplicas.map(({ index, endReason, holdsQuota }) => [index, endReason, holdsQuota])).toEqual([
      [0, 'HOST_LOST', false],
      [1, 'HOST_LOST', false],
      [2, 'HOST_LOST', false],
    ])
    expect(change.insertedReplicas.map(({ index, holdsQuota, notBefore }) => [index, holdsQuota, notBefore])).toEqual([
      [0, true, null],
      [1, true, null],
      [2, true, null],
    ])
    expect(change.hosts).toMatchObject([
      { hostId: hostId(1), allocation: null, cpuMillis: -300, portsReleased: { length: 0 }, portsKept: { length: 3 } },
    ])
    expect(dataOf(change).removed).toHaveLength(3)
    expect(messagesOf(change)).toEqual(['Replicas 0–2 of web are lost with the worker on host node1 and replaced.'])
    expect(change.workerPreconditions).toEqual([
      { workerId: workerOf(hostId(1)), reachability: 'LOST', draining: null },
    ])
  })

  test('what was being stopped there has stopped, for the reason it was stopped for', () => {
    const scene = readyScene({ replicas: 2 })
    scene.scale(1)
    const change = scene.commit(of('lose'))
    expect(change.updatedReplicas.map(({ index, endReason }) => [index, endReason])).toEqual([
      [0, 'HOST_LOST'],
      [1, 'SCALED_DOWN'],
    ])
    expect(scene.store.usedQuota).toBe(1)
  })

  test('again it changes nothing: what waits for a place is on no host', () => {
    const scene = readyScene()
    scene.commit(of('lose'))
    expect(scene.ask(of('lose'))).toEqual({ kind: 'done', changed: false })
  })

  test('takes as many as the cap of rows has room for with their replacements; asked again, the rest', () => {
    const scene = readyScene({ replicas: 300 })
    expect(scene.commit(of('lose')).updatedReplicas).toHaveLength(250)
    expect(scene.commit(of('lose')).updatedReplicas).toHaveLength(50)
    expect(scene.snapshot.columns.activeReplicas).toBe(300)
  })
})

describe('drain', () => {
  /** Replica 0 is on node2, all others on node1. */
  const spread = (replicas: number, over: Partial<Parameters<typeof settings>[0]> = {}) => {
    const scene = new Scene({ replicas, settings: settings(over) })
    scene.commit({
      kind: 'grant',
      grants: [
        {
          replicaId: scene.row(0).id,
          hostId: hostId(2),
          hostName: 'node2',
          hostAddresses: ['10.0.0.2'],
          workerId: workerOf(hostId(2)),
          allocation: 1,
          lastPort: 1,
          busyRange: null,
          ports: [],
        },
      ],
    })
    scene.place()
    scene.report([reportOf(scene.row(0))], { hostId: hostId(2) })
    scene.ready()
    return scene
  }

  test('n = 4, 25 %: a replacement is started first; the available one is stopped when that has a place, not before', () => {
    const scene = spread(4)
    const change = scene.commit(of('drain', 2))
    expect(states(scene)).toEqual([
      '0 RUNNING ready DRAIN',
      '1 RUNNING ready',
      '2 RUNNING ready',
      '3 RUNNING ready',
      '4 PENDING',
    ])
    expect(change.workerPreconditions).toEqual([{ workerId: workerOf(hostId(2)), reachability: null, draining: true }])
    scene.commit({
      kind: 'setBlockers',
      blockers: [
        {
          replica: scene.row(4).id,
          blocker: {
            reason: 'NO_CAPACITY',
            message: 'No host has room.',
            count: 1,
            since: 0,
            until: null,
            replica: null,
          },
        },
      ],
    })
    expect(scene.snapshot.columns.blockers).toMatchObject([
      { reason: 'NO_CAPACITY' },
      {
        reason: 'HOST_DRAINING',
        message:
          'Waiting for web[0] to leave the worker on host node2, which is being drained: no place for a replacement: No host has room.',
      },
    ])
    const placed = scene.place()
    expect(placed.updatedReplicas.find(({ index }) => index === 0)).toMatchObject({
      state: 'STOPPING',
      stopReason: 'DRAINED',
    })
    scene.ready()
    expect(scene.snapshot.columns).toMatchObject({ availableReplicas: 4, activeReplicas: 4 })
  })

  test('within the limits: with none unavailable it waits until the replacement is available', () => {
    const scene = spread(4, { maxSurge: { count: 1 }, maxUnavailable: { count: 0 } })
    scene.commit(of('drain', 2))
    scene.place()
    expect(scene.row(0).state).toBe('RUNNING')
    scene.ready()
    expect(states(scene)[0]).toBe('0 STOPPING DRAIN')
  })

  test('without surge it has one for the drain', () => {
    const scene = spread(2, { maxSurge: { count: 0 }, maxUnavailable: { count: 1 } })
    scene.commit(of('drain', 2))
    expect(states(scene)).toEqual(['0 RUNNING ready DRAIN', '1 RUNNING ready', '2 PENDING'])
  })

  test('the room for it goes with the last that leaves: none is started that the next commit would stop', () => {
    const scene = readyScene({
      replicas: 5,
      settings: settings({ maxSurge: { count: 0 }, maxUnavailable: { count: 2 } }),
    })
    scene.commit(updateTo('2'))
    const waiting = scene.store.alive.filter(({ state }) => state === 'PENDING')
    const elsewhere = { hostId: hostId(2), hostName: 'node2', ports: [], lastPort: 0 }
    scene.commit({ kind: 'grant', grants: waiting.map(({ id }) => grantOf(id, elsewhere)) })
    // They serve nobody yet, so both leave at once.
    scene.commit(of('drain', 2))
    expect(scene.snapshot.columns.activeReplicas).toBe(5)
    expect(scene.tick().facts).toEqual([])
  })

  test('every replica on the host goes, one after the other, and never are fewer available than the limits say', () => {
    const scene = spread(5)
    scene.commit(of('drain', 1))
    let least = 5
    for (let round = 0; round < 12; round++) {
      scene.place({ hostId: hostId(2), hostName: 'node2', hostAddresses: ['10.0.0.2'] })
      least = Math.min(least, scene.snapshot.columns.availableReplicas)
      scene.report(
        scene.store.alive
          .filter(({ hostId: host, state }) => host === hostId(2) && state !== 'STOPPING')
          .map((row) => reportOf(row)),
        { hostId: hostId(2) },
      )
      scene.report(
        scene.store.alive
          .filter(({ state }) => state === 'STOPPING')
          .map((row) => reportOf(row, { state: 'ENDED', ready: false, endReason: 'STOPPED' })),
      )
    }
    expect(scene.store.alive.map(({ hostId: host }) => host)).toEqual(Array(5).fill(hostId(2)))
    expect(scene.snapshot.columns).toMatchObject({ availableReplicas: 5, activeReplicas: 5, blockers: [] })
    expect(least).toBeGreaterThanOrEqual(4)
  })

  test('a slot that waits after failures keeps nothing from leaving', () => {
    const scene = spread(4)
    for (const _ of [1, 2]) {
      scene.end(3)
      scene.place()
    }
    scene.end(3)
    expect(scene.row(3).notBefore).not.toBeNull()
    scene.commit(of('drain', 2))
    scene.place()
    scene.ready()
    expect(states(scene)[0]).toBe('0 STOPPING DRAIN')
  })

  test('undrain: what has not left stays, and the replacement goes', () => {
    const scene = spread(4)
    scene.commit(of('drain', 2))
    const change = scene.commit(of('undrain', 2))
    expect(states(scene)).toEqual(['0 RUNNING ready', '1 RUNNING ready', '2 RUNNING ready', '3 RUNNING ready'])
    expect(messagesOf(change)[0]).toBe(
      'Replica 0 of web stays on the worker on host node2, which is no longer being drained.',
    )
    expect(change.workerPreconditions).toEqual([{ workerId: workerOf(hostId(2)), reachability: null, draining: false }])
    expect(scene.ask(of('undrain', 2))).toEqual({ kind: 'done', changed: false })
  })

  test('while paused the rollout does not step, but what leaves gets a twin at its own version, and goes when that has a place', () => {
    const scene = spread(4)
    scene.commit(updateTo('next', { startPaused: true }))
    scene.commit(of('drain', 2))
    expect(scene.row(4)).toMatchObject({ versionNumber: 1, twinOf: scene.row(0).id, state: 'PENDING' })
    expect(scene.row(0).state).toBe('RUNNING')
    scene.place()
    expect(states(scene)).toEqual([
      '0 STOPPING DRAIN',
      '1 RUNNING ready',
      '2 RUNNING ready',
      '3 RUNNING ready',
      '4 STARTING',
    ])
  })

  test('of a service that is being deleted nothing is to leave', () => {
    const scene = spread(2)
    scene.commit({ kind: 'delete', expectedRevision: null, actor: 'alice' })
    expect(scene.ask(of('drain', 2))).toEqual({ kind: 'done', changed: false })
  })
})
