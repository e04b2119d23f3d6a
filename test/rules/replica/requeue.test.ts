import { describe, expect, test } from 'vitest'
import type { HostId, WorkerId } from '../../../src/model/id.ts'
import type { ServiceIntent } from '../../../src/model/intent.ts'
import { hostLeftBy } from '../../../src/model/replica.ts'
import type { Replica } from '../../../src/model/service.ts'
import { messagesOf, readyScene, type Scene } from '../../support/drivers/scene.ts'
import { pauseIntent, updateTo } from '../../support/fixtures/rollouts.ts'
import { hostId, reportOf, settings, workerOf } from '../../support/fixtures/services.ts'

const requeue = (scene: Scene, index: number): ServiceIntent => ({
  kind: 'requeue',
  replica: scene.row(index).id,
  actor: 'alice',
})
const states = (scene: Scene) =>
  scene.store.alive.map(({ index, state, leaving }) => `${index} ${state}${leaving === null ? '' : ` ${leaving}`}`)
const elsewhere = {
  hostId: hostId(2),
  workerId: workerOf(hostId(2)),
  hostName: 'node2',
  hostAddresses: ['10.0.0.2'],
}
/** Everything on host 2 runs and is ready. */
const readyElsewhere = (scene: Scene) => {
  const there = scene.store.alive.filter((row) => row.hostId === hostId(2) && row.state !== 'STOPPING')
  return scene.report(
    there.map((row) => reportOf(row)),
    { hostId: hostId(2) },
  )
}
/** The host on which placement may not put the replica, as it reads it. */
const bannedOf = (scene: Scene, { twinOf }: Replica): HostId | null => {
  const leaving = scene.store.alive.find(({ id }) => id === twinOf)
  return leaving === undefined ? null : hostLeftBy(leaving)
}

describe('R15: a replica that a user moves', () => {
  test('runs on until another one has a place elsewhere, and the event names who asked for it', () => {
    const scene = readyScene({ replicas: 4 })
    const { id } = scene.row(2)
    const change = scene.commit(requeue(scene, 2))
    expect(messagesOf(change)[0]).toBe('alice moves replica 2 of web away from host node1.')
    expect(change.facts[0]?.event).toMatchObject({ actor: 'alice', replicaId: id })
    expect(states(scene)).toEqual(['0 RUNNING', '1 RUNNING', '2 RUNNING REQUEUE', '3 RUNNING', '4 PENDING'])
    expect(scene.row(4)).toMatchObject({ twinOf: id, avoidHostId: hostId(1) })
    expect(bannedOf(scene, scene.row(4))).toBe(hostId(1))
    scene.place(elsewhere)
    expect(scene.store.rows.get(id)).toMatchObject({ state: 'STOPPING', stopReason: 'REQUEUED' })
    scene.confirmStops()
    readyElsewhere(scene)
    expect(scene.store.rows.get(id)).toMatchObject({ state: 'ENDED', endReason: 'REQUEUED' })
    expect(scene.snapshot.columns).toMatchObject({ activeReplicas: 4, availableReplicas: 4, blockers: [] })
    expect(scene.snapshot.slots).toEqual([])
  })

  test.each([
    ['with none unavailable it waits until the other one is available', { count: 1 }, { count: 0 }, 'RUNNING'],
    ['without surge it has one for the move', { count: 0 }, { count: 1 }, 'STOPPING'],
  ])('within the limits: %s', (_, maxSurge, maxUnavailable, state) => {
    const scene = readyScene({ replicas: 2, settings: settings({ maxSurge, maxUnavailable }) })
    const { id } = scene.row(0)
    scene.commit(requeue(scene, 0))
    scene.place(elsewhere)
    expect(scene.store.rows.get(id)?.state).toBe(state)
    readyElsewhere(scene)
    scene.confirmStops()
    expect(scene.store.rows.get(id)?.endReason).toBe('REQUEUED')
  })

  test('where there is no place for another one it runs on for as long as that is so, with a blocker', () => {
    const scene = readyScene({ replicas: 1 })
    scene.commit(requeue(scene, 0))
    const blocker = {
      reason: 'NO_HOST',
      message: 'No other host takes replicas.',
      count: 1,
      since: 0,
      until: null,
      replica: null,
    } as const
    scene.commit({ kind: 'setBlockers', blockers: [{ replica: scene.row(1).id, blocker }] })
    scene.wait(100_000).tick()
    expect(states(scene)).toEqual(['0 RUNNING REQUEUE', '1 PENDING'])
    expect(scene.snapshot.columns).toMatchObject({ availableReplicas: 1, status: 'HEALTHY' })
    expect(scene.snapshot.columns.blockers).toMatchObject([
      { reason: 'NO_HOST' },
      {
        reason: 'REQUEUED',
        message:
          'Waiting for web[0] to leave host node1, away from which a user moves it: no place for a replacement: No other host takes replicas.',
      },
    ])
  })

  test('that ends while it waits lifts the ban from its host: a replica there is better than none', () => {
    const scene = readyScene({ replicas: 1 })
    scene.commit(requeue(scene, 0))
    const twin = scene.row(1)
    const change = scene.wait(1).end(0)
    expect(scene.store.alive.map(({ id }) => id)).toEqual([twin.id])
    expect(scene.row(1)).toMatchObject({ avoidHostId: hostId(1) })
    expect(bannedOf(scene, scene.row(1))).toBeNull()
    expect(change.facts.at(-1)).toMatchObject({ data: { wakesPlacement: true } })
  })

  test('a kill ends the wait', () => {
    const scene = readyScene({ replicas: 1 })
    scene.commit(requeue(scene, 0))
    scene.wait(1).kill(0)
    expect(states(scene)).toEqual(['0 STOPPING REQUEUE', '1 PENDING'])
    scene.confirmStops()
    expect(bannedOf(scene, scene.row(1))).toBeNull()
  })

  test('two of them move one after the other within the surge, each with a replica of its own', () => {
    const scene = readyScene({
      replicas: 4,
      settings: settings({ maxSurge: { count: 1 }, maxUnavailable: { count: 0 } }),
    })
    const ids = [scene.row(0).id, scene.row(3).id]
    scene.commit(requeue(scene, 0), requeue(scene, 3))
    const twins: (string | null)[] = []
    for (let round = 0; round < 2; round++) {
      twins.push(...scene.store.alive.filter(({ state }) => state === 'PENDING').map(({ twinOf }) => twinOf))
      scene.place(elsewhere)
      const onTwo = scene.store.alive.filter((row) => row.hostId === hostId(2)).map(({ id }) => id)
      expect(onTwo).toHaveLength(round + 1)
      readyElsewhere(scene)
      scene.confirmStops()
    }
    expect(twins.sort()).toEqual([...ids].sort())
    expect(ids.map((id) => scene.store.rows.get(id)?.endReason)).toEqual(['REQUEUED', 'REQUEUED'])
  })

  test('during a rollout it is replaced by the target, which keeps off its host', () => {
    const scene = readyScene({
      replicas: 4,
      settings: settings({ maxSurge: { count: 1 }, maxUnavailable: { count: 0 } }),
    })
    const { id } = scene.row(1)
    scene.commit(requeue(scene, 1), updateTo('2'))
    expect(scene.row(4)).toMatchObject({ versionNumber: 2, twinOf: id, avoidHostId: hostId(1) })
  })

  test('while paused it gets a twin at its own version', () => {
    const scene = readyScene({ replicas: 4 })
    scene.commit(updateTo('2', { startPaused: true }))
    const { id } = scene.row(1)
    scene.commit(pauseIntent, requeue(scene, 1))
    expect(scene.row(4)).toMatchObject({ versionNumber: 1, twinOf: id, avoidHostId: hostId(1) })
  })

  test('a restart in place does not keep it', () => {
    const scene = readyScene({ replicas: 1 })
    scene.commit(requeue(scene, 0))
    scene.report([reportOf(scene.row(0), { start: 2, state: 'STARTING', ready: false })])
    expect(scene.row(0)).toMatchObject({ start: 2, leaving: 'REQUEUE' })
  })
})

describe('refused', () => {
  test.each([
    ['one without a host', (scene: Scene) => scene.scale(2), 1, 'INVALID_STATE', /has no host that it could leave/],
    [
      'one that is being moved',
      (scene: Scene) => scene.commit(requeue(scene, 0)),
      0,
      'NO_CHANGE',
      /because a user moves it/,
    ],
    [
      'one on a worker that is being drained',
      (scene: Scene) => scene.commit({ kind: 'drain', worker: scene.row(0).workerId as WorkerId }),
      0,
      'NO_CHANGE',
      /because its worker is being drained/,
    ],
  ])('%s', (_, before, index, code, message) => {
    const scene = readyScene({ replicas: 1 })
    before(scene)
    expect(scene.ask(requeue(scene, index))).toMatchObject({
      refusal: { code, message: expect.stringMatching(message), path: ['input', 'replica'] },
    })
  })

  test('one that is being stopped, and one that has ended', () => {
    const scene = readyScene({ replicas: 1 })
    const intent = requeue(scene, 0)
    scene.kill(0)
    expect(scene.ask(intent)).toMatchObject({ refusal: { code: 'INVALID_STATE' } })
    scene.confirmStops()
    expect(scene.ask(intent)).toMatchObject({ refusal: { code: 'INVALID_STATE' } })
  })
})
