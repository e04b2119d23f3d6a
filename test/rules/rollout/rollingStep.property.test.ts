import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ReplicaId } from '../../../src/model/id.ts'
import type { Limit } from '../../../src/model/settings.ts'
import { resolveLimits } from '../../../src/rules/rollout/limits.ts'
import { rollingStep } from '../../../src/rules/rollout/rolling.ts'
import type { RollingReplica, RollingResult, RollingView } from '../../../src/rules/rollout/rollingView.ts'
import { type ModelReplica, RollingModel } from '../../support/models/rollingModel.ts'

const limits: readonly (readonly [Limit, Limit])[] = [
  [{ percent: 25 }, { percent: 25 }],
  [{ count: 1 }, { count: 0 }],
  [{ count: 0 }, { count: 1 }],
  [{ count: 3 }, { count: 2 }],
  [{ percent: 100 }, { count: 0 }],
  [{ percent: 0 }, { percent: 10 }],
  [{ count: 2 }, { percent: 50 }],
  [{ percent: 0 }, { percent: 100 }],
]

const happenings = [
  'scale',
  'update',
  'sameContent',
  'rollback',
  'up',
  'unready',
  'end',
  'confirm',
  'pause',
  'resume',
  'drain',
  'restart',
] as const
const weights: Record<(typeof happenings)[number], number> = {
  scale: 2,
  update: 2,
  sameContent: 1,
  rollback: 1,
  up: 8,
  unready: 1,
  end: 2,
  confirm: 3,
  pause: 1,
  resume: 1,
  drain: 1,
  restart: 1,
}
const happening = fc.record({
  kind: fc.oneof(...happenings.map((kind) => ({ weight: weights[kind], arbitrary: fc.constant(kind) }))),
  a: fc.nat(1000),
  b: fc.nat(1000),
})
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never

const history = (most: number, caps: fc.Arbitrary<number>) =>
  fc.record({
    replicas: fc.nat(most),
    limits: fc.constantFrom(...limits),
    cap: caps,
    happenings: fc.array(happening, { minLength: 5, maxLength: 30, size: 'max' }),
    most: fc.constant(most),
  })

const idOf = (id: number) => `r${String(id).padStart(9, '0')}` as ReplicaId

function rowOf(model: RollingModel, r: ModelReplica): RollingReplica {
  return {
    id: idOf(r.id),
    index: r.index,
    versionNumber: r.version,
    contentNumber: model.contents.get(r.version) ?? 0,
    state: r.stopping ? 'STOPPING' : r.state,
    ready: r.ready,
    available: r.available,
    leaving: r.leaving ? 'RESTART' : null,
    twinOf: r.twinOf === null ? null : idOf(r.twinOf),
    notBefore: null,
    createdAt: r.createdAt,
  }
}

function viewOf(model: RollingModel, cap: number, grownFrom: number | null): RollingView {
  return {
    desired: model.desired,
    ...resolveLimits(model.desired, { maxSurge: model.surge, maxUnavailable: model.unavailable }),
    target: { number: model.target, contentNumber: model.contents.get(model.target) ?? 0 },
    paused: model.paused,
    grownFrom,
    cap,
    replicas: model.replicas.map((r) => rowOf(model, r)),
  }
}

const available = (model: RollingModel) => model.active().filter((r) => r.available).length

/** Settles the model and the product on the same state, compares them and checks the invariants. True: the cap cut it. */
function commit(model: RollingModel, cap: number, grownFrom: number | null, seen: Seen): boolean {
  const view = viewOf(model, cap, grownFrom)
  const before = new Set(model.active())
  const availableBefore = available(model)
  const cut = model.settle(cap, grownFrom)
  const after = new Set(model.active())

  const result = rollingStep(view)
  const started = [...after]
    .filter((r) => !before.has(r))
    .map((r) => `${r.version} for ${r.twinOf === null ? null : idOf(r.twinOf)}`)
  const stopped = [...before].filter((r) => !after.has(r)).map((r) => idOf(r.id))
  holds(
    told(result) === [...started.sort(), ...stopped.sort(), cut].join(),
    () => `not as the model: ${told(result)} | ${started} ${stopped} ${cut}`,
  )
  holds(
    told(rollingStep({ ...view, replicas: [...view.replicas].reverse() })) === told(result),
    () => 'the order of rows matters',
  )
  holds(result.starts.length + result.stops.length <= cap, () => 'more rows than the cap')

  holds(available(model) >= Math.min(availableBefore, model.desired - model.u), () => 'fewer available')
  holds(after.size <= Math.max(before.size, model.desired + model.s), () => 'more active')
  holds(new Set([...after].map((r) => r.index)).size === after.size, () => 'two active replicas of one index')
  if (cut) seen.cut++
  else {
    holds(told(rollingStep(viewOf(model, cap, null))) === 'false', () => 'not at rest')
    seen.rested++
  }
  seen.twins += result.starts.filter((start) => start.twinOf !== null).length
  seen.stops += result.stops.length
  return cut
}

/** Plain, for it runs a million times. */
function holds(condition: boolean, fault: () => string): void {
  if (!condition) throw new Error(fault())
}

function told({ starts, stops, capped }: RollingResult): string {
  return [
    ...starts.map((start) => `${start.versionNumber} for ${start.twinOf}`).sort(),
    ...stops.map((stop) => stop.id).sort(),
    capped,
  ].join()
}

interface Seen {
  rested: number
  cut: number
  twins: number
  stops: number
}

const nth = <T>(list: readonly T[], n: number): T | undefined => list[n % list.length]

/** Applies one happening; the desired replicas before it when it is a scale. */
function happen(model: RollingModel, { kind, a, b }: Happening, most: number): number | null {
  const active = model.active()
  const newest = Math.max(...model.contents.keys())
  switch (kind) {
    case 'scale': {
      const from = model.desired
      model.desired = a % (most + 1)
      return from
    }
    case 'update':
      model.contents.set(newest + 1, newest + 1)
      model.target = newest + 1
      return null
    case 'sameContent':
      model.contents.set(newest + 1, model.contents.get(1 + (a % newest)) ?? 1)
      model.target = newest + 1
      return null
    case 'rollback':
      model.target = 1 + (a % newest)
      return null
    case 'up': {
      const r = nth(
        active.filter((one) => !one.available),
        a,
      )
      if (r === undefined) return null
      if (b % 10 < 6) raise(r)
      else if (r.state === 'PENDING') r.state = 'STARTING'
      else if (r.state === 'STARTING') r.state = 'RUNNING'
      else if (!r.ready) r.ready = true
      else r.available = true
      return null
    }
    case 'unready': {
      const r = nth(
        active.filter((one) => one.ready),
        a,
      )
      if (r !== undefined) r.ready = r.available = false
      return null
    }
    case 'end': {
      const r = nth(
        model.replicas.filter((one) => one.state !== 'PENDING'),
        a,
      )
      if (r !== undefined) model.end(r)
      return null
    }
    case 'confirm': {
      const r = nth(
        model.replicas.filter((one) => one.stopping),
        a,
      )
      if (r !== undefined) model.end(r)
      return null
    }
    case 'pause':
      model.paused = true
      return null
    case 'resume':
      model.paused = false
      return null
    case 'drain':
      for (const r of active) if ((r.id * 7 + a) % 10 < 3) r.leaving = true
      return null
    case 'restart':
      model.contents.set(newest + 1, model.contents.get(model.target) ?? 1)
      model.target = newest + 1
      for (const r of active) r.leaving = true
      return null
  }
}

function raise(r: ModelReplica): void {
  r.state = 'RUNNING'
  r.ready = r.available = true
}

/** Lets everything that waits become available and everything that stops end, one by one, until nothing moves. */
function comeToRest(model: RollingModel, cap: number, seen: Seen): void {
  for (let turn = 0; turn < 5_000; turn++) {
    const cut = commit(model, cap, null, seen)
    const waiting = model.active().find((r) => !r.available)
    const stopping = model.replicas.find((r) => r.stopping)
    if (waiting !== undefined) raise(waiting)
    else if (stopping !== undefined) model.end(stopping)
    else if (!cut) return
  }
  expect.fail('It does not come to rest.')
}

function replay(
  run: { replicas: number; limits: readonly [Limit, Limit]; cap: number; happenings: Happening[]; most: number },
  seen: Seen,
): void {
  const model = new RollingModel(run.replicas, ...run.limits)
  model.settle(Number.POSITIVE_INFINITY, null)
  for (const r of model.replicas) raise(r)
  for (const one of run.happenings) {
    const grownFrom = happen(model, one, run.most)
    commit(model, run.cap, grownFrom, seen)
  }
  if (model.paused) {
    comeToRest(model, run.cap, seen)
    expect(
      model.active().filter((r) => r.leaving),
      'what leaves goes while paused',
    ).toEqual([])
    expect(model.active().length).toBeGreaterThanOrEqual(model.desired)
    expect(model.active().length).toBeLessThanOrEqual(model.desired + model.s)
    model.paused = false
  }
  comeToRest(model, run.cap, seen)
  expect(model.active().length, 'ends at n').toBe(model.desired)
  expect(
    model.active().filter((r) => model.outdated(r) || !r.available),
    'available and up to date',
  ).toEqual([])
}

const rows: readonly [string, number, fc.Arbitrary<number>, number][] = [
  ['small services', 9, fc.constant(500), 2_000],
  ['services of up to 40', 40, fc.constant(500), 300],
  ['few rows per commit', 12, fc.integer({ min: 2, max: 6 }), 1_000],
]

test.each(rows)(
  'steps as the model does and keeps the invariants over random histories: %s',
  { timeout: 120_000 },
  (_, most, caps, runs) => {
    const seen: Seen = { rested: 0, cut: 0, twins: 0, stops: 0 }
    fc.assert(
      fc.property(history(most, caps), (run) => replay(run, seen)),
      { numRuns: runs },
    )
    expect(seen.rested).toBeGreaterThan(runs)
    expect(seen.stops).toBeGreaterThan(runs)
    expect(seen.twins).toBeGreaterThan(10)
    if (most === 12) expect(seen.cut).toBeGreaterThan(runs / 2)
  },
)
