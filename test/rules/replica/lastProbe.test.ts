import { describe, expect, test } from 'vitest'
import type { ReportedProbe } from '../../../src/model/lastProbe.ts'
import { messagesOf, readyScene, Scene } from '../../support/drivers/scene.ts'
import { updateTo } from '../../support/fixtures/rollouts.ts'
import { content, reportOf } from '../../support/fixtures/services.ts'

const answered503 = (over: Partial<ReportedProbe> = {}): ReportedProbe => ({
  kind: 'READINESS',
  ok: false,
  message: 'GET /health on port 20001 answered 503',
  count: 12,
  seconds: 40,
  ...over,
})
const tell = (scene: Scene, index: number, probe: ReportedProbe | null, ready = false) =>
  messagesOf(scene.report([reportOf(scene.row(index), { ready, probe })]))
const blocker = (scene: Scene) => scene.snapshot.columns.blockers[0]?.message

/** One placed replica whose process has run for a minute and is not ready. */
function running(replicas = 1): Scene {
  const scene = new Scene({ replicas })
  scene.place()
  for (let index = 0; index < replicas; index++) tell(scene, index, null)
  return scene.wait(60)
}

describe('R9: why a probe fails', () => {
  test('is in the replica, in the blocker and in one event', () => {
    const scene = running()
    expect(blocker(scene)).toBe(
      'Waiting for web[0] to become ready: its readiness probe has not succeeded yet; see its log on host node1.',
    )
    expect(tell(scene, 0, answered503())).toEqual([
      'Replica 0 of web fails its readiness probe: GET /health on port 20001 answered 503 (12 times in 40 s).',
    ])
    const at = scene.ctx.now
    const { kind, ok, message, count } = answered503()
    expect(scene.row(0).lastProbe).toEqual({ kind, ok, message, count, since: at - 40_000, at, failures: 1 })
    expect(blocker(scene)).toBe(
      'Waiting for web[0] to become ready: GET /health on port 20001 answered 503 (12 times in 40 s).',
    )
  })

  test('the count goes on without another event, and what is not told stays true', () => {
    const scene = running()
    tell(scene, 0, answered503({ count: 1, seconds: 0 }))
    expect(blocker(scene)).toBe('Waiting for web[0] to become ready: GET /health on port 20001 answered 503.')
    scene.wait(30)
    expect(tell(scene, 0, answered503({ count: 4, seconds: 29 }))).toEqual([])
    expect(blocker(scene)).toMatch(/answered 503 \(4 times in 30 s\)\.$/)
    const told = scene.row(0).lastProbe
    scene.wait(30)
    expect(tell(scene, 0, null)).toEqual([])
    expect(tell(scene, 0, answered503({ count: 4, seconds: 59 }))).toEqual([])
    expect(scene.row(0).lastProbe).toBe(told)
  })

  test('a replica that is not ready any more says why in that event', () => {
    const scene = readyScene({ replicas: 1 })
    expect(tell(scene, 0, answered503({ count: 3, seconds: 2 }))).toEqual([
      'Replica 0 of web is not ready any more: GET /health on port 20001 answered 503 (3 times).',
    ])
  })

  test('a liveness probe that fails is told while the replica is ready', () => {
    const scene = readyScene({ replicas: 1 })
    expect(tell(scene, 0, answered503({ kind: 'LIVENESS', count: 1 }), true)).toEqual([
      'Replica 0 of web fails its liveness probe: GET /health on port 20001 answered 503.',
    ])
    expect(scene.row(0)).toMatchObject({ ready: true, lastProbe: { kind: 'LIVENESS', ok: false } })
  })

  test('one that changes its mind all the time makes an event at the 1st, 2nd, 4th, 8th … failure', () => {
    const scene = running()
    const events = [...Array(64).keys()].map(
      (at) => tell(scene, 0, answered503({ message: at % 2 === 0 ? 'refused' : 'GET / answered 500' })).length,
    )
    expect(events.flatMap((count, at) => (count === 0 ? [] : at + 1))).toEqual([1, 2, 4, 8, 16, 32, 64])
  })

  test('of several the one is named whose probe is known to fail', () => {
    const scene = running(3)
    expect(blocker(scene)).toBe(
      'Waiting for web[0] and 2 more to become ready: their probes have not succeeded yet; see their logs.',
    )
    tell(scene, 1, answered503())
    expect(blocker(scene)).toBe(
      'Waiting for web[1] and 2 more to become ready: of web[1], GET /health on port 20001 answered 503 (12 times in 40 s).',
    )
  })

  test('the rollout’s blocker has it, too', () => {
    const scene = readyScene({ replicas: 1 })
    scene.commit(updateTo('two'))
    scene.place()
    const index = scene.store.alive.find(({ versionNumber }) => versionNumber === 2)?.index ?? -1
    tell(scene, index, null)
    scene.wait(60)
    tell(scene, index, answered503())
    expect(scene.snapshot.rollout.blocker?.message).toBe(
      `Waiting for web[${index}] to become ready: GET /health on port 20001 answered 503 (12 times in 40 s).`,
    )
    // The count goes on in the blocker, and makes no event.
    expect(tell(scene, index, answered503({ count: 24 }))).toEqual([])
    expect(scene.snapshot.rollout.blocker?.message).toContain('(24 times in')
  })

  test('a profile without probes hears nothing of a probe, and one with a startup probe hears of that', () => {
    const plain = new Scene({ replicas: 1, content: content({ readiness: null }) })
    plain.place()
    const unconfirmed =
      'Waiting for web[0] to become ready: its worker on host node1 has not confirmed its process yet.'
    expect(blocker(plain)).toBe(unconfirmed)
    const starting = new Scene({ replicas: 1, content: content({ startup: content().readiness }) })
    starting.place()
    expect(blocker(starting)).toBe(unconfirmed)
    tell(starting, 0, null)
    expect(blocker(starting)).toMatch(/: its startup probe has not succeeded yet;/)
    tell(starting, 0, answered503({ kind: 'STARTUP', ok: true, message: null }))
    expect(blocker(starting)).toMatch(/: its readiness probe has not succeeded yet;/)
  })

  test('another start begins with nothing, and so does another placement', () => {
    const scene = running()
    tell(scene, 0, answered503())
    scene.report([reportOf(scene.row(0), { start: 2, ready: false })])
    expect(scene.row(0).lastProbe).toBeNull()
    tell(scene, 0, answered503())
    scene.end(0, { endReason: 'PORT_TAKEN' })
    expect(scene.row(0)).toMatchObject({ state: 'PENDING', lastProbe: null })
  })
})

describe('how a process ended last', () => {
  const failed = { message: 'Its liveness probe failed 3 times in a row: GET /health answered 503.', exitCode: 0 }

  test('is told of a restart in place, with the event and once more while it is reported again', () => {
    const scene = readyScene({ replicas: 1 })
    const events = messagesOf(
      scene.report([reportOf(scene.row(0), { start: 2, state: 'STARTING', ready: false, ...failed })]),
    )
    expect(events).toEqual([
      'Replica 0 of web is restarted in place (start 2): its liveness probe failed 3 times in a row: GET /health answered 503.',
    ])
    const lastExit = { start: 1, code: 0, signal: null, at: scene.ctx.now, message: failed.message }
    expect(scene.row(0).lastExit).toEqual(lastExit)
    scene.wait(5).report([reportOf(scene.row(0), { ready: true, ...failed })])
    expect(scene.row(0).lastExit).toEqual(lastExit)
  })

  test('stays what it was where a worker knows nothing of it', () => {
    const scene = readyScene({ replicas: 1 })
    scene.report([reportOf(scene.row(0), { start: 2, ...failed })])
    scene.report([reportOf(scene.row(0), { start: 3 })])
    expect(scene.row(0).lastExit).toMatchObject({ start: 1, code: 0 })
  })

  test('is kept by what has ended', () => {
    const scene = readyScene({ replicas: 1 })
    const { id } = scene.row(0)
    const { updatedReplicas } = scene.end(0, {
      endReason: 'EXITED',
      exitCode: 3,
      message: 'The process exited with code 3.',
    })
    expect(updatedReplicas.find((row) => row.id === id)?.lastExit).toMatchObject({ start: 1, code: 3 })
  })
})

describe('R10: why a slot failed is in the blockers of its replacement', () => {
  const notFound = { endReason: 'START_FAILED', exitCode: null, message: '"serve" was not found in PATH.' } as const

  test('what could not be started has no log to read', () => {
    const scene = readyScene({ replicas: 1 })
    scene.end(0, notFound)
    scene.place()
    scene.end(0, notFound)
    const sentence =
      'Waiting for web[0], which has failed 2 times and is tried again 10 s after the last failure ("serve" was not found in PATH): mend that; resetBackoff tries it at once.'
    expect(blocker(scene)).toBe(sentence)
    expect(scene.row(0).blocker?.message).toBe(sentence)
  })

  test('what ended has one', () => {
    const scene = readyScene({ replicas: 2 })
    for (const _ of [1, 2]) {
      for (const index of [0, 1]) scene.end(index, { message: 'The process exited with code 1.' })
      scene.place()
    }
    expect(blocker(scene)).toBe(
      'Waiting for web[0] and 1 more, which have failed again and again (web[0]: the process exited with code 1): read their logs; resetBackoff tries them at once.',
    )
  })

  test('a rollout says it from the first failure on', () => {
    const scene = readyScene({ replicas: 4 })
    scene.commit(updateTo('two'))
    scene.place()
    scene.end(4, notFound)
    expect(scene.snapshot.rollout.blocker?.message).toMatch(
      /; web\[4\] has failed once \("serve" was not found in PATH\): mend that\.$/,
    )
    const index = scene.store.alive.find(
      ({ versionNumber, state }) => versionNumber === 2 && state === 'STARTING',
    )?.index
    scene.report([
      reportOf(scene.row(index ?? -1), {
        start: 2,
        ready: false,
        exitCode: 1,
        message: 'The process exited with code 1.',
      }),
    ])
    scene.commit({ kind: 'resetBackoff', actor: 'alice' })
    expect(scene.snapshot.rollout.blocker?.message).toMatch(
      /has been restarted in place once \(the process exited with code 1\): read its log\.$/,
    )
  })
})
