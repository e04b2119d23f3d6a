import { describe, expect, test } from 'vitest'
import type { BlockReason } from '../../../src/generated/prisma/enums.ts'
import { readyScene, type Scene } from '../../support/drivers/scene.ts'
import { profileRevision, updateTo } from '../../support/fixtures/rollouts.ts'
import { content, hostId, reportOf, workerOf } from '../../support/fixtures/services.ts'

const blockerOf = (scene: Scene) => scene.snapshot.rollout.blocker?.message

/** 4 replicas, half way to version 2: web[3] and web[4] are new and placed. */
function rolling(over: Parameters<typeof updateTo>[1] = {}): Scene {
  const scene = readyScene({ replicas: 4 })
  scene.commit(updateTo('two', over))
  scene.place()
  scene.confirmStops()
  return scene
}

const placed = (scene: Scene, reason: BlockReason, more: { readonly toStop?: number } = {}) => {
  const waiting = scene.store.alive.filter((row) => row.state === 'PENDING')
  const blocker = { reason, message: 'Full.', count: 1, since: scene.ctx.now, until: null, replica: null, ...more }
  scene.commit({ kind: 'setBlockers', blockers: waiting.map((row) => ({ replica: row.id, blocker })) })
}

describe('R8: the blocker tells what has gone wrong so far, whatever it waits for', () => {
  test('a failure, from the first one on', () => {
    const scene = rolling()
    expect(blockerOf(scene)).toBe('Waiting for web[3] and 1 more to become ready.')
    scene.end(4)
    expect(blockerOf(scene)).toBe(
      'Waiting for web[4] to be placed; web[4] has failed once (exit code 1): read its log.',
    )
    scene.place()
    expect(blockerOf(scene)).toBe(
      'Waiting for web[3] and 1 more to become ready; web[4] has failed once (exit code 1): read its log.',
    )
    scene.end(4)
    expect(blockerOf(scene)).toBe(
      'Waiting for web[4], which has failed 2 times and is tried again 10 s after the last failure (exit code 1): read its log; resetBackoff tries it at once.',
    )
    scene.wait(10).tick()
    scene.place()
    expect(blockerOf(scene)).toBe(
      'Waiting for web[3] and 1 more to become ready; web[4] has failed 2 times (exit code 1): read its log.',
    )
  })

  test('a restart in place', () => {
    const scene = rolling()
    scene.report([reportOf(scene.row(3), { start: 2, state: 'STARTING', ready: false })])
    expect(blockerOf(scene)).toBe(
      'Waiting for web[3] and 1 more to become ready; web[3] has been restarted in place once: read its log.',
    )
    scene.report([reportOf(scene.row(4), { start: 4, state: 'RUNNING', ready: false })])
    expect(blockerOf(scene)).toBe(
      'Waiting for web[3] and 1 more to become ready; web[4] has been restarted in place 3 times: read its log.',
    )
  })

  test('also of what is ready, while it has to stay so; not of what is available or old', () => {
    const scene = rolling({ settings: { minReadySeconds: 30 } })
    scene.end(4)
    scene.report([reportOf(scene.row(0), { start: 2 })])
    scene.place()
    scene.ready()
    expect(blockerOf(scene)).toBe(
      'Waiting for web[3] and 1 more to have been ready for 30 s; web[4] has failed once (exit code 1): read its log.',
    )
    scene.wait(30).tick()
    expect(blockerOf(scene)).not.toContain('read its log')
  })
})

describe('what has no place', () => {
  const full = 'Waiting for a place for web[4]: Full.'
  const nothing = { maxUnavailable: { count: 0 } }

  test.each([
    ['NO_CAPACITY', 'add a host'],
    ['NO_PORT', 'add a host'],
    ['SPREAD', 'add a host'],
    ['QUOTA', 'raise the quota'],
  ] as const)('R1: %s under maxUnavailable 0 says what else would help', (reason, help) => {
    const scene = readyScene({ replicas: 4 })
    scene.commit(updateTo('two', { settings: nothing }))
    placed(scene, reason)
    expect(blockerOf(scene)).toBe(
      `${full} None of the old ones may make room, because maxUnavailable is 0: allow 1 unavailable or ${help}.`,
    )
  })

  test.each([
    [4, 4],
    [4, 3],
    [4, 1],
  ])('R1: with %i replicas under a quota of %i, to follow its advice makes room', (used, maxReplicas) => {
    const scene = readyScene({ replicas: used })
    scene.commit(updateTo('two', { settings: nothing }))
    const toStop = used - maxReplicas + 1
    placed(scene, 'QUOTA', { toStop })
    expect(blockerOf(scene)).toContain(`allow ${toStop} unavailable or raise the quota.`)
    scene.commit(updateTo(null, { settings: { maxUnavailable: { count: toStop } } }))
    scene.confirmStops()
    expect(scene.store.usedQuota).toBeLessThan(maxReplicas)
  })

  test('R1: it advises nothing that does not help', () => {
    const scene = readyScene({ replicas: 4 })
    scene.commit(updateTo('two', { settings: nothing }))
    placed(scene, 'NO_HOST')
    expect(blockerOf(scene)).toBe(full)
    placed(scene, 'QUOTA', { toStop: 5 })
    expect(blockerOf(scene)).toBe(full)
    scene.commit({ kind: 'unreach', worker: workerOf(hostId(1)) })
    placed(scene, 'NO_CAPACITY')
    expect(blockerOf(scene)).toBe(full)
  })

  test('R1: a new version that is larger than the old ones, or has another fixed port, gets no room by their end', () => {
    for (const larger of [{ cpuMillis: 1_000 }, { ports: [{ name: 'http', port: 8_080, protocol: 'TCP' as const }] }]) {
      const scene = readyScene({ replicas: 4 })
      const profile = profileRevision(2, { content: content(larger) })
      scene.commit(updateTo(null, { profile, settings: { maxSurge: { count: 1 }, ...nothing } }))
      placed(scene, 'cpuMillis' in larger ? 'NO_CAPACITY' : 'NO_PORT')
      expect(blockerOf(scene)).toBe(full)
    }
  })

  test('while something of the service is being stopped, it says so', () => {
    const scene = readyScene({ replicas: 4 })
    scene.commit(updateTo('two'))
    placed(scene, 'NO_PORT')
    expect(blockerOf(scene)).toBe(
      'Waiting for a place for web[3] and 1 more: Full. 1 replica of web is being stopped, which may make room.',
    )
    scene.confirmStops()
    expect(blockerOf(scene)).toBe('Waiting for a place for web[3] and 1 more: Full.')
  })
})
