import { describe, expect, test } from 'vitest'
import { BlockReason } from '../../../src/generated/prisma/enums.ts'
import { bySeverity } from '../../../src/rules/blocker/blockerTable.ts'
import { readyScene, Scene } from '../../support/drivers/scene.ts'
import { updateTo } from '../../support/fixtures/rollouts.ts'
import { hostId, reportOf, settings, workerOf } from '../../support/fixtures/services.ts'

const messages = (scene: Scene) => scene.snapshot.columns.blockers.map(({ message }) => message)
const worker = workerOf(hostId(1))

test('every reason stands in the order of severity once', () => {
  expect([...bySeverity].sort()).toEqual(Object.values(BlockReason).sort())
})

test('the most severe reason comes first: what failed, then what has no place, then what only has to become ready', () => {
  const scene = readyScene({ replicas: 3 })
  for (const wait of [0, 10, 20]) {
    scene.wait(wait).tick()
    scene.place()
    scene.end(0)
  }
  scene.end(1)
  const blocker = { reason: 'NO_PORT', message: 'Full.', count: 1, since: 0, until: null, replica: null } as const
  scene.commit({ kind: 'setBlockers', blockers: [{ replica: scene.row(1).id, blocker }] })
  scene.report([reportOf(scene.row(2), { ready: false })])
  expect(scene.snapshot.columns.blockers.map(({ reason }) => reason)).toEqual([
    'CRASH_LOOP',
    'NO_PORT',
    'WAITING_FOR_READY',
  ])
})

describe('the sentence of one replica and of several has the value and the next step', () => {
  test('QUEUED, which is the replica’s own blocker too', () => {
    const scene = new Scene({ replicas: 1 })
    expect(messages(scene)).toEqual(['Waiting for web[0] to be placed.'])
    expect(scene.row(0).blocker?.message).toBe('Waiting for web[0] to be placed.')
    scene.scale(3)
    expect(messages(scene)).toEqual(['Waiting for web[0] and 2 more to be placed.'])
  })

  test('BACKOFF, CRASH_LOOP, and a CRASH_LOOP that is over', () => {
    const scene = readyScene({ replicas: 2 })
    scene.end(0)
    scene.place()
    scene.end(0)
    const backoff =
      'Waiting for web[0], which has failed 2 times and is tried again 10 s after the last failure (exit code 1): read its log; resetBackoff tries it at once.'
    expect(messages(scene)).toEqual([backoff])
    expect(scene.row(0).blocker?.message).toBe(backoff)
    scene.wait(10).tick()
    scene.place()
    scene.end(0)
    expect(messages(scene)).toEqual([
      'Waiting for web[0], which has failed 3 times and is tried again 20 s after the last failure (exit code 1): read its log; resetBackoff tries it at once.',
    ])
    scene.wait(20).tick()
    scene.place()
    expect(messages(scene)).toEqual(['Waiting for web[0], which has failed 3 times (exit code 1): read its log.'])
    scene.ready()
    expect(messages(scene)).toEqual(['web[0] had failed 3 times and is available now: that is forgotten after 600 s.'])
  })

  test('CRASH_LOOP of several is tried again when the first of them is', () => {
    const scene = readyScene({ replicas: 2 })
    for (const wait of [0, 10, 20]) {
      scene.wait(wait).tick()
      scene.place()
      scene.end(0)
      scene.wait(1)
      scene.end(1)
    }
    const [blocker] = scene.snapshot.columns.blockers
    expect(blocker).toMatchObject({ reason: 'CRASH_LOOP', count: 2, until: scene.row(0).notBefore })
    scene.wait(19).tick()
    expect(scene.snapshot.columns.blockers).toMatchObject([
      { reason: 'CRASH_LOOP', count: 2, until: scene.row(1).notBefore },
    ])
  })

  test('several that have failed', () => {
    const scene = readyScene({ replicas: 2 })
    for (const index of [0, 1]) scene.end(index)
    scene.place()
    for (const index of [0, 1]) scene.end(index)
    expect(messages(scene)).toEqual([
      'Waiting for web[0] and 1 more, which have failed again and again (web[0]: exit code 1): read their logs; resetBackoff tries them at once.',
    ])
  })

  test.each(['QUOTA', 'NO_HOST', 'NO_CAPACITY', 'NO_PORT', 'SPREAD'] as const)('%s', (reason) => {
    const scene = new Scene({ replicas: 2 })
    const blocker = { reason, message: 'There is none. Add one.', count: 1, since: 0, until: null, replica: null }
    const blockers = [0, 1].map((index) => ({ replica: scene.row(index).id, blocker }))
    scene.commit({ kind: 'setBlockers', blockers })
    expect(messages(scene)).toEqual(['Waiting for a place for web[0] and 1 more: There is none. Add one.'])
  })

  test('WAITING_FOR_READY', () => {
    const scene = new Scene({ replicas: 1 })
    scene.place()
    expect(messages(scene)).toEqual([
      'Waiting for web[0] to become ready: its worker on host node1 has not confirmed its process yet.',
    ])
    scene.scale(2)
    scene.place()
    expect(messages(scene)).toEqual([
      'Waiting for web[0] and 1 more to become ready: their workers have not confirmed all of their processes yet.',
    ])
  })

  test('MIN_READY, and NO_ADDRESS before and after the replica is available', () => {
    const scene = new Scene({ replicas: 1, settings: settings({ minReadySeconds: 5 }) })
    scene.place()
    scene.ready()
    expect(messages(scene)).toEqual(['Waiting for web[0] to have been ready for 5 s.'])
    const host = { id: hostId(1), name: 'node1', addresses: [] }
    scene.commit({ kind: 'hostAddresses', worker, host })
    expect(messages(scene)).toEqual([
      'Waiting for web[0] to have been ready for 5 s and for an address to list it with: host node1 has none, so let its worker register with one.',
    ])
    scene.wait(5).tick()
    expect(messages(scene)).toEqual([
      'Waiting for an address to list web[0] with: host node1 has none, so let its worker register with one.',
    ])
  })

  test('HOST_UNREACHABLE', () => {
    const scene = readyScene({ replicas: 1 })
    scene.commit({ kind: 'unreach', worker })
    expect(messages(scene)).toEqual([
      'Waiting for web[0], whose worker on host node1 cannot be reached: see whether that worker runs. If it does not, confirmHostLoss has what it ran replaced at once.',
    ])
  })

  test('HOST_DRAINING: it says what becomes of the replacement', () => {
    const scene = readyScene({ replicas: 1 })
    scene.commit({ kind: 'drain', worker })
    expect(messages(scene)[0]).toBe(
      'Waiting for web[0] to leave the worker on host node1, which is being drained: its replacement waits to be placed.',
    )
  })

  test('ROLLOUT_PAUSED and PROGRESS_DEADLINE are about the rollout', () => {
    const scene = readyScene({ replicas: 4, settings: settings({ progressDeadlineSeconds: 60 }) })
    scene.commit(updateTo('two'))
    scene.place()
    scene.wait(60).tick()
    expect(messages(scene)[0]).toBe(
      'Rollout 2 made no progress for 60 s: Waiting for web[3] and 1 more to become ready.',
    )
    scene.commit({ kind: 'pause', expectedRevision: null, actor: 'alice' })
    expect(messages(scene)[0]).toBe('Rollout 2 is paused: resumeRollout lets it go on.')
  })
})
