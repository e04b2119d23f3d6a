import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mostCauses } from '../../../src/model/bounds.ts'
import type { EventText } from '../../../src/model/fact.ts'
import { isTold } from '../../../src/model/repeats.ts'
import { messagesOf, readyScene, Scene } from '../../support/drivers/scene.ts'
import { updateTo } from '../../support/fixtures/rollouts.ts'
import { reportOf } from '../../support/fixtures/services.ts'

/** All events of the scene from its change number `from` on. */
const eventsOf = (scene: Scene, from = 0): EventText[] =>
  scene.store.changes.slice(from).flatMap(({ facts }) => facts.flatMap(({ event }) => event ?? []))

const countsOf = (events: readonly EventText[], part: string): number[] =>
  events.filter(({ message }) => message.includes(part)).map(({ count }) => count)

/** The replica of that index is placed again when its wait is over, and fails again. */
function fail(scene: Scene, index: number, exitCode = 1): void {
  scene.wait(300).tick()
  scene.place()
  scene.end(index, { exitCode })
}

const flap = (scene: Scene, index: number) => {
  scene.report([reportOf(scene.row(index), { ready: false })])
  scene.report([reportOf(scene.row(index))])
}

describe('what happens again for the same cause is told the 1st, 2nd, 4th, 8th … time', () => {
  test('the failures of a slot, over all its replacements', () => {
    const scene = new Scene({ replicas: 1 })
    for (let times = 0; times < 70; times++) fail(scene, 0)
    const events = eventsOf(scene)
    const told = [1, 2, 4, 8, 16, 32, 64]
    expect(countsOf(events, 'ended with exit code 1')).toEqual(told)
    expect(countsOf(events, 'is placed')).toEqual(told)
    expect(events.find(({ count }) => count === 4)?.message).toBe(
      'Replica 0 of web is placed on host node1. This is the 4th time.',
    )
    expect(events.length).toBeLessThan(20)
  })

  test('a replica that turns ready and not ready', () => {
    const scene = readyScene({ replicas: 2 })
    for (let times = 0; times < 33; times++) flap(scene, 1)
    expect(countsOf(eventsOf(scene), 'Replica 1 of web is not ready any more')).toEqual([1, 2, 4, 8, 16, 32])
  })

  test('a rollout that waits for one replica after the other tells the wait once', () => {
    const scene = readyScene({ replicas: 4 })
    scene.commit(updateTo('two'))
    scene.place()
    scene.confirmStops()
    const from = scene.store.changes.length
    for (let times = 0; times < 50; times++) {
      fail(scene, 3)
      fail(scene, 4)
    }
    const steps = eventsOf(scene, from).filter(({ kind }) => kind === 'ROLLOUT')
    const causes = new Set(steps.map(({ message }) => message.replace(/ This is .*/, '').replace(/\d+/g, '#')))
    expect(steps.length).toBeLessThan(20)
    expect(causes.size).toBeGreaterThan(1)
  })

  test('its replicas are told together as far as it is the same time for them', () => {
    const scene = readyScene({ replicas: 3 })
    flap(scene, 2)
    const both = [0, 1, 2].map((index) => reportOf(scene.row(index), { ready: false }))
    expect(messagesOf(scene.report(both))).toEqual([
      'Replicas 0 and 1 of web are not ready any more.',
      'Replica 2 of web is not ready any more. This is the 2nd time.',
    ])
  })
})

describe('it is news again', () => {
  test('for another cause', () => {
    const scene = new Scene({ replicas: 1 })
    for (let times = 0; times < 3; times++) fail(scene, 0)
    fail(scene, 0, 2)
    expect(countsOf(eventsOf(scene), 'ended with exit code 2')).toEqual([1])
  })

  test('but many causes are counted together', () => {
    const scene = new Scene({ replicas: 1 })
    for (let code = 1; code <= 250; code++) fail(scene, 0, code)
    const ends = eventsOf(scene).filter(({ message }) => message.includes('ended'))
    expect(ends.length).toBeLessThan(mostCauses + 8)
    expect(ends.at(-1)?.message).toContain('This and other new causes have come 128 times so far.')
    expect(Object.keys(scene.row(0).repeats).length).toBeLessThanOrEqual(mostCauses + 1)
  })

  test('when the replica was available for as long as its failures are remembered', () => {
    const scene = readyScene({ replicas: 1 })
    for (let times = 0; times < 3; times++) flap(scene, 0)
    scene.wait(600)
    flap(scene, 0)
    expect(countsOf(eventsOf(scene), 'not ready any more')).toEqual([1, 2, 1])
  })

  test('when a user has reset the backoff', () => {
    const scene = new Scene({ replicas: 1 })
    for (let times = 0; times < 3; times++) fail(scene, 0)
    scene.commit({ kind: 'resetBackoff', actor: 'alice' })
    fail(scene, 0)
    expect(countsOf(eventsOf(scene), 'ended with exit code 1')).toEqual([1, 2, 1])
  })

  test('when a user has killed the replica', () => {
    const scene = readyScene({ replicas: 1 })
    for (let times = 0; times < 3; times++) flap(scene, 0)
    scene.kill(0)
    scene.place()
    expect(messagesOf(scene.ready())).toEqual(['Replica 0 of web is ready.'])
  })
})

test('R17: the specRevision is that of the change of the spec, also behind events that are not told', () => {
  const scene = readyScene({ replicas: 1 })
  for (let times = 0; times < 2; times++) flap(scene, 0)
  const { id, ports, start } = scene.row(0)
  const change = scene.commit(
    {
      kind: 'report',
      reporter: { workerId: scene.row(0).workerId ?? never(), hostId: scene.row(0).hostId ?? never(), epoch: 1 },
      sequence: 1_000,
      reports: [reportOf({ id, ports, start }, { ready: false })],
    },
    { kind: 'scale', replicas: 2, expectedRevision: null, actor: 'alice' },
  )
  expect(messagesOf(change)).toEqual([
    'alice scaled web from 1 to 2 replicas.',
    'Replica 1 of web is created (version 1).',
  ])
  expect(change.specFact).toBe(1)
})

test('over any long history the number of events grows with the logarithm of the repeats', () => {
  const trouble = fc.tuple(
    fc.constantFrom('fail', 'flap', 'restart', 'silence') as fc.Arbitrary<string>,
    fc.nat(4),
    fc.nat(2),
  )
  fc.assert(
    fc.property(fc.array(trouble, { minLength: 1, maxLength: 12 }), (period) => {
      const scene = readyScene({ replicas: 4 })
      scene.commit(updateTo('two'))
      scene.place()
      scene.confirmStops()
      const live = (rounds: number) => {
        const from = scene.store.changes.length
        for (let round = 0; round < rounds; round++) for (const step of period) suffer(scene, ...step)
        return eventsOf(scene, from)
      }
      live(8)
      const repeated = live(8)
      // Each cause crosses at most one power of two when all that has happened happens once more.
      const causes = new Map<string, number>()
      for (const { message } of repeated) {
        const cause = message.replace(/ (This is|After|This and) .*/, '').replace(/\(start \d+\)/, '')
        causes.set(cause, (causes.get(cause) ?? 0) + 1)
      }
      for (const [cause, times] of causes) expect(times, cause).toBeLessThanOrEqual(2)
    }),
    { numRuns: 12 },
  )
})

test('only powers of two are told', () => {
  expect(Array.from({ length: 20 }, (_, at) => at + 1).filter(isTold)).toEqual([1, 2, 4, 8, 16])
})

/** Lets something go wrong with a replica; what never becomes ready makes no progress. */
function suffer(scene: Scene, what: string, index: number, code: number): void {
  scene.wait(20).tick()
  scene.place()
  const row = scene.store.alive.find((alive) => alive.index === index && alive.state !== 'STOPPING')
  if (row === undefined || row.hostId === null) return
  const isNew = row.versionNumber === 2
  if (what === 'fail' && isNew) scene.end(index, { exitCode: code })
  else if (what === 'restart') scene.report([reportOf(row, { start: row.start + 1, state: 'STARTING', ready: false })])
  else if (what === 'silence' && row.workerId !== null) scene.commit({ kind: 'unreach', worker: row.workerId })
  else if (!isNew) flap(scene, index)
}

function never(): never {
  throw new Error('A ready replica is placed.')
}
