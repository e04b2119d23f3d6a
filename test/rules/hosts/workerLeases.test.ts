import { describe, expect, test } from 'vitest'
import type { HostId, WorkerId } from '../../../src/model/id.ts'
import { judgeLeases, type LeasedWorker, type LeaseView } from '../../../src/rules/hosts/workerLeases.ts'

const t0 = 1_000_000_000_000
/** Lease 15 s, grace 60 s. `at` and the hosts' leases in seconds; leases count from long ago. */
function judge(at: number, workers: readonly LeasedWorker[], over: Partial<LeaseView> = {}) {
  const view = { workers, now: t0 + at * 1000, countsFrom: t0 - 1_000_000, leaseSeconds: 15, graceSeconds: 60, ...over }
  const { verdicts, wakeAt } = judgeLeases(view)
  return {
    told: verdicts.map(({ worker, to }) => `${worker.name} ${to}`),
    wakeAt: wakeAt === null ? null : (wakeAt - t0) / 1000,
  }
}

let made = 0
/** A worker, on a host of its own. */
function host(
  over: Partial<Omit<LeasedWorker, 'leaseUntil' | 'since'>> & { lease: number; since?: number },
): LeasedWorker {
  const { lease, since, ...rest } = over
  made++
  return {
    id: `w${made}` as WorkerId,
    name: rest.name ?? `w${made}`,
    hostId: `h${made}` as HostId,
    hostName: `host-of-${rest.name ?? `w${made}`}`,
    reachability: 'REACHABLE',
    since: t0 + (since ?? -1000) * 1000,
    hostSince: t0 + (since ?? -1000) * 1000,
    held: false,
    draining: false,
    ...rest,
    leaseUntil: t0 + lease * 1000,
  }
}
const silent = (name: string, lease: number, over = {}) =>
  host({ name, lease, reachability: 'UNREACHABLE', since: lease, ...over })

describe('a lease (R15)', () => {
  test.each([
    ['runs: woken at its end', 14.999, [], 15],
    ['is over at its end, not after it', 15, ['a UNREACHABLE'], null],
    ['one step at a time, however late', 500, ['a UNREACHABLE'], null],
  ])('%s', (_what, at, told, wakeAt) => {
    expect(judge(at, [host({ name: 'a', lease: 15 })])).toEqual({ told, wakeAt })
  })

  test.each([
    ['waits for its grace', 74.999, [], 75],
    ['is lost at the end of its grace', 75, ['a LOST'], null],
  ])('a silent host %s', (_what, at, told, wakeAt) => {
    expect(judge(at, [silent('a', 15)])).toEqual({ told, wakeAt })
  })

  test('that was renewed while the host has not told everything yet is no reason to lose it', () => {
    expect(judge(80, [silent('a', 90)])).toEqual({ told: [], wakeAt: 90 })
  })

  test('a lost one is left alone', () => {
    expect(judge(1000, [host({ lease: 15, reachability: 'LOST' })])).toEqual({ told: [], wakeAt: null })
  })

  test('the earliest end wakes', () => {
    expect(judge(0, [host({ lease: 15 }), host({ lease: 9 }), silent('a', -40)]).wakeAt).toBe(9)
    expect(judge(0, [host({ lease: 30 }), host({ lease: 30 }), silent('a', -40)]).wakeAt).toBe(20)
  })
})

describe('the servers’ own outage (R15)', () => {
  const countsFrom = t0 + 1_000_000
  test('every lease starts anew: nobody is judged before a lease is over, and lost only a grace after that', () => {
    const hosts = [host({ name: 'a', lease: 15 }), silent('b', 15)]
    expect(judge(1000, hosts, { countsFrom })).toEqual({ told: [], wakeAt: 1015 })
    expect(judge(1015, hosts, { countsFrom })).toEqual({ told: ['a UNREACHABLE'], wakeAt: 1075 })
    expect(judge(1075, [silent('b', 15)], { countsFrom }).told).toEqual(['b LOST'])
  })
})

describe('the brake (R15)', () => {
  test.each([
    ['2 of 2 hosts: too few for it', 2, 2, true],
    ['2 of 3', 2, 3, false],
    ['1 of 3', 1, 3, true],
    ['2 of 4: not more than half', 2, 4, true],
    ['3 of 4', 3, 4, false],
    ['5 of 5', 5, 5, false],
  ])('%s', (_what, dead, all, isLost) => {
    const hosts = Array.from({ length: all }, (_, n) => (n < dead ? silent(`d${n}`, 15) : host({ lease: 200 })))
    const { told } = judge(75, hosts)
    expect(told).toEqual(Array.from({ length: dead }, (_, n) => `d${n} ${isLost ? 'LOST' : 'HELD'}`))
  })

  test('looks at all that are silent, not only at those whose grace is over: leases never end in the same moment', () => {
    const hosts = [silent('a', 10), silent('b', 14), host({ name: 'c', lease: 200 })]
    expect(judge(70, hosts)).toEqual({ told: ['a HELD'], wakeAt: 74 })
  })

  test('is said once', () => {
    const hosts = [silent('a', 15, { held: true }), silent('b', 15, { held: true }), host({ lease: 200 })]
    expect(judge(75, hosts)).toEqual({ told: [], wakeAt: 200 })
  })

  test('ends when one returns: the others have a lease and a grace from then on', () => {
    const hosts = [silent('a', 15), silent('b', 15), silent('c', 15), host({ name: 'd', lease: 500, since: 300 })]
    expect(judge(301, hosts)).toEqual({ told: [], wakeAt: 375 })
    expect(judge(375, hosts).told).toEqual(['a LOST', 'b LOST', 'c LOST'])
  })

  test.each([
    ['the servers were started anew, just before the others returned', 15, 104, 100],
    ['it renewed its lease once more, and died before it had told everything', 115, 101, -1000],
    ['a heartbeat came late, after the others had returned', 15, 104, 130],
  ])('ends for all, whatever has moved the lease of one that is dead: %s', (_what, lease, since, countsFrom) => {
    const dead = silent('a', lease, { since: 15, held: true })
    const all = [dead, ...['b', 'c'].map((name) => host({ name, lease: 10_000, since })), host({ lease: 10_000 })]
    const lostAt = Math.max(since + 75, Math.max(lease, countsFrom + 15) + 60)
    const view = { countsFrom: t0 + countsFrom * 1000 }
    expect(judge(lostAt - 0.001, all, view)).toEqual({ told: [], wakeAt: lostAt })
    expect(judge(lostAt, all, view).told).toEqual(['a LOST'])
  })

  test('an operator’s word on one does not let go the others that were held with it', () => {
    const others = [silent('b', 15, { held: true }), silent('c', 15, { held: true })]
    const all = [silent('a', 15, { reachability: 'LOST' }), ...others, host({ lease: 500 }), host({ lease: 500 })]
    expect(judge(400, all).told).toEqual([])
    // Of three hosts too few are left for a brake.
    expect(judge(400, [all[0] as LeasedWorker, ...others]).told).toEqual([])
    expect(judge(400, [...all, host({ lease: 500, since: 300 })]).told).toEqual(['b LOST', 'c LOST'])
  })

  test('an operator’s word before the others were held goes on counting, so that they are held too', () => {
    const others = [silent('b', 15), silent('c', 16)]
    const confirmed = silent('a', 15, { reachability: 'LOST', held: true, hostSince: t0 + 40_000 })
    expect(judge(76, [confirmed, ...others]).told).toEqual(['b HELD', 'c HELD'])
    // Long before they fell silent, it is no sign of anything.
    const long = silent('a', 15, { reachability: 'LOST', held: true, hostSince: t0 + 10_000 })
    expect(judge(76, [long, ...others]).told).toEqual(['b LOST', 'c LOST'])
    expect(
      judge(76, [{ ...confirmed, hostId: 'here' as HostId }, ...others, host({ hostId: 'here' as HostId, lease: 500 })])
        .told,
    ).toEqual(['b HELD', 'c HELD'])
  })

  test('does not count what is drained: whoever drained it means to end it', () => {
    const drained = ['x', 'y', 'z'].map((name) => silent(name, 15, { draining: true }))
    const rest = [host({ lease: 200 }), host({ lease: 200 })]
    expect(judge(75, [...drained, silent('a', 15), ...rest]).told).toEqual(['x LOST', 'y LOST', 'z LOST', 'a LOST'])
    // Nor where an operator has confirmed its loss, to be rid of it.
    const gone = silent('x', 15, { draining: true, reachability: 'LOST', held: true, hostSince: t0 + 40_000 })
    expect(judge(75, [gone, silent('a', 15), host({ lease: 200 })]).told).toEqual(['a LOST'])
    // Nor as one that is heard.
    const draining = ['x', 'y', 'z'].map((name) => host({ name, lease: 200, draining: true }))
    expect(judge(75, [...draining, silent('a', 15), silent('b', 15), host({ lease: 200 })]).told).toEqual([
      'a HELD',
      'b HELD',
    ])
  })

  test('does not count the lost', () => {
    const lost = Array.from({ length: 5 }, () => host({ lease: 0, reachability: 'LOST' }))
    expect(judge(75, [...lost, silent('a', 15), host({ lease: 200 }), host({ lease: 200 })]).told).toEqual(['a LOST'])
  })
})

describe('several workers on one host (R15)', () => {
  const on = (name: string, over: Parameters<typeof host>[0]) =>
    host({ hostId: name as HostId, hostName: name, ...over })

  test('each has its own lease: one falls silent and is lost while the others run on', () => {
    const workers = [
      on('n1', { name: 'a', lease: 200 }),
      on('n1', { name: 'b', lease: 15 }),
      on('n1', { name: 'c', lease: 100 }),
    ]
    expect(judge(15, workers)).toEqual({ told: ['b UNREACHABLE'], wakeAt: 100 })
    const [, b] = workers.map((worker) => ({
      ...worker,
      reachability: worker.name === 'b' ? ('UNREACHABLE' as const) : worker.reachability,
    }))
    expect(
      judge(
        75,
        workers.map((worker) => (worker.name === 'b' && b ? b : worker)),
      ).told,
    ).toEqual(['b LOST'])
  })

  test('the brake counts hosts: one is silent when all of its workers are', () => {
    const silentOn = (name: string, worker: string) => silent(worker, 15, { hostId: name as HostId, hostName: name })
    const heard = on('n2', { lease: 200 })
    // 3 of 5 workers are silent, and 1 of 3 hosts.
    const most = [silentOn('n1', 'a'), silentOn('n1', 'b'), silentOn('n2', 'c'), heard, on('n3', { lease: 200 })]
    expect(judge(75, most).told).toEqual(['a LOST', 'b LOST', 'c LOST'])
    const both = [silentOn('n1', 'a'), silentOn('n1', 'b'), silentOn('n2', 'c'), on('n3', { lease: 200 })]
    expect(judge(75, both).told).toEqual(['a HELD', 'b HELD', 'c HELD'])
  })

  test('one more worker on a host that was there all the time does not end the brake', () => {
    const all = [silent('a', 15), silent('b', 15), silent('c', 15), on('n4', { lease: 500 })]
    const more = on('n4', { name: 'new', lease: 500, since: 300, hostSince: t0 - 1_000_000 })
    expect(judge(375, [...all, more]).told).toEqual(['a HELD', 'b HELD', 'c HELD'])
  })

  test('the event names the worker where the host has others, and the host where it has none', () => {
    const said = (workers: readonly LeasedWorker[]) =>
      judgeLeases({ workers, now: t0 + 15_000, countsFrom: 0, leaseSeconds: 15, graceSeconds: 60 }).verdicts.map(
        ({ message }) => message,
      )
    expect(said([on('n1', { name: 'a', lease: 15 })])).toEqual([
      "Host n1 can't be reached: its worker has not renewed its lease. It is lost when it is not back within 60 s.",
    ])
    expect(said([on('n1', { name: 'a', lease: 15 }), on('n1', { name: 'b', lease: 99 })])).toEqual([
      "Worker a on host n1 can't be reached: it has not renewed its lease. It is lost when it is not back within 60 s.",
    ])
  })
})
