import { describe, expect, test } from 'vitest'
import { endedReason } from '../../../src/model/endedReason.ts'
import type { HostChange } from '../../../src/model/hostChange.ts'
import type { WorkerId } from '../../../src/model/id.ts'
import { notFound } from '../../../src/rules/hosts/hostByOperator.ts'
import { decideHost, looksAt } from '../../../src/rules/hosts/hostDecision.ts'
import { bestOf, drainedReason } from '../../../src/rules/hosts/hostState.ts'
import type { HostNow, WorkerNow, WorkerTransition } from '../../../src/rules/hosts/hostTransition.ts'

type Host = Partial<Omit<HostNow, 'workers'>> & { readonly workers?: readonly WorkerNow[] }

function worker(name: string, over: Partial<WorkerNow> = {}): WorkerNow {
  return {
    id: `id-${name}`,
    name,
    reachability: 'REACHABLE',
    reason: null,
    held: false,
    draining: false,
    cpuMillis: 1_000,
    memoryMiB: 100,
    ...over,
  }
}
const silent = (name: string, over: Partial<WorkerNow> = {}) =>
  worker(name, { reachability: 'UNREACHABLE', reason: 'It is silent.', ...over })
const lost = (name: string) => worker(name, { reachability: 'LOST', reason: 'It was silent.' })

/** Host n1, by default OPEN with one REACHABLE worker, a. */
function hostOf({ workers = [worker('a')], ...over }: Host): HostNow {
  return { name: 'n1', scheduling: 'OPEN', reachability: bestOf(workers), reason: null, workers, ...over }
}

const a = 'id-a' as WorkerId
const judge = (to: 'UNREACHABLE' | 'LOST' | 'HELD') =>
  ({ kind: 'judgeWorker', workerId: a, to, reason: `So it is ${to}.`, message: `It becomes ${to}.` }) as const
const returns = { kind: 'returnWorker', workerId: a } as const
const drains = { kind: 'drainWorker', workerId: a, actor: 'alice' } as const
const ends = { kind: 'endWorker', workerId: a } as const
const leaves = { kind: 'leaveHost', workerId: a, to: 'n2' } as const
const schedule = (scheduling: 'OPEN' | 'CORDONED' | 'DRAINING') =>
  ({ kind: 'scheduleHost', name: 'n1', scheduling, actor: 'alice' }) as const
const drained = { kind: 'hostDrained' } as const
const confirms = { kind: 'confirmHostLoss', name: 'n1', actor: 'alice' } as const
const removesHost = { kind: 'removeHost', name: 'n1', actor: 'alice' } as const
const removesWorker = { kind: 'removeWorker', name: 'a', actor: 'alice' } as const
const frees = { kind: 'freePorts' } as const

/** `replicas`: left on the host, and on worker a. */
function decide(change: HostChange, host: Host = {}, replicas = 0) {
  return decideHost(hostOf(host), change, { onHost: replicas, onWorker: replicas })
}

interface Becomes {
  readonly scheduling?: HostNow['scheduling']
  readonly reachability?: HostNow['reachability']
  readonly reason?: string
  readonly cpuMillis?: number
  readonly memoryMiB?: number
  readonly removes?: boolean
  readonly wakesPlacement?: boolean
  readonly workers?: readonly (Partial<WorkerTransition> & Pick<WorkerTransition, 'id'>)[]
}

/** All of the next state; what is left out is that of an OPEN host with one REACHABLE worker. */
function next({ workers = [], ...over }: Becomes) {
  return {
    scheduling: 'OPEN',
    reachability: 'REACHABLE',
    reason: null,
    cpuMillis: 1_000,
    memoryMiB: 100,
    removes: false,
    wakesPlacement: false,
    ...over,
    workers: workers.map((one) => ({
      reachability: 'REACHABLE',
      reason: null,
      held: false,
      draining: false,
      fences: false,
      clean: false,
      removes: false,
      ...one,
    })),
  }
}

const none = { cpuMillis: 0, memoryMiB: 0 }
const two = { cpuMillis: 2_000, memoryMiB: 200 }
const drainingReason = 'It is being drained: its replicas are replaced elsewhere, until uncordonHost.'
const cordonedReason = 'It is cordoned: it takes no new replicas until uncordonHost.'

describe('what becomes of a host (R15)', () => {
  test.each<[string, HostChange, Host, Becomes, string, string | null]>([
    [
      'its worker’s lease is over',
      judge('UNREACHABLE'),
      {},
      {
        reachability: 'UNREACHABLE',
        reason: 'So it is UNREACHABLE.',
        workers: [{ id: a, reachability: 'UNREACHABLE', reason: 'So it is UNREACHABLE.' }],
      },
      'It becomes UNREACHABLE.',
      'xce',
    ],
    [
      'the lease of one of two is over',
      judge('UNREACHABLE'),
      { workers: [worker('a'), worker('b')] },
      {
        ...two,
        reason: "Of its 2 workers a can't be reached.",
        workers: [{ id: a, reachability: 'UNREACHABLE', reason: 'So it is UNREACHABLE.' }],
      },
      'It becomes UNREACHABLE.',
      'xce',
    ],
    [
      'its worker’s grace is over',
      judge('LOST'),
      { workers: [silent('a', { held: true, draining: true })] },
      {
        ...none,
        reachability: 'LOST',
        reason: 'So it is LOST.',
        workers: [{ id: a, reachability: 'LOST', reason: 'So it is LOST.', fences: true, draining: true }],
      },
      'It becomes LOST.',
      'xce',
    ],
    [
      'its worker’s grace is over, and the brake holds',
      judge('HELD'),
      { workers: [silent('a')] },
      {
        reachability: 'UNREACHABLE',
        reason: 'So it is HELD.',
        workers: [{ id: a, reachability: 'UNREACHABLE', reason: 'So it is HELD.', held: true }],
      },
      'It becomes HELD.',
      'xce',
    ],
    [
      'its worker is back within the grace',
      returns,
      { workers: [silent('a', { held: true })] },
      { wakesPlacement: true, workers: [{ id: a, clean: true }] },
      'Host n1 is back, before it was lost.',
      null,
    ],
    [
      'its worker is back after it',
      returns,
      { workers: [lost('a')] },
      { wakesPlacement: true, workers: [{ id: a, clean: true }] },
      'Host n1 is back, and runs nothing that was replaced.',
      null,
    ],
    [
      'one of two workers is back',
      returns,
      { workers: [silent('a'), worker('b')] },
      { ...two, wakesPlacement: true, workers: [{ id: a, clean: true }] },
      'Worker a on host n1 is back, before it was lost.',
      null,
    ],
    [
      'its worker is back on a host that is drained meanwhile',
      returns,
      { workers: [silent('a')], scheduling: 'DRAINING' },
      { scheduling: 'DRAINING', reason: drainedReason, wakesPlacement: true, workers: [{ id: a, clean: true }] },
      'Host n1 is back, before it was lost.',
      null,
    ],
    [
      'its worker is to end',
      drains,
      {},
      { reason: 'Of its 1 worker a is being drained.', workers: [{ id: a, draining: true }] },
      'Worker a on host n1 is being drained because it is to end: its replicas are replaced elsewhere, within the limits of their services.',
      'alice',
    ],
    [
      'its worker is to end while it is silent',
      drains,
      { workers: [silent('a', { held: true })] },
      {
        reachability: 'UNREACHABLE',
        reason: 'It is silent.',
        workers: [{ id: a, reachability: 'UNREACHABLE', reason: 'It is silent.', held: true, draining: true }],
      },
      'Worker a on host n1 is being drained because it is to end: its replicas are replaced elsewhere, within the limits of their services.',
      'alice',
    ],
    [
      'its worker has started elsewhere',
      leaves,
      { workers: [silent('a', { held: true })] },
      {
        ...none,
        reachability: 'LOST',
        reason: 'It has started again on host n2.',
        workers: [{ id: a, reachability: 'LOST', reason: 'It has started again on host n2.', fences: true }],
      },
      'Worker a has left host n1 for host n2: its replicas are replaced.',
      null,
    ],
    [
      'its worker has ended, and ran nothing',
      ends,
      { workers: [silent('a', { held: true })] },
      {
        ...none,
        reachability: 'LOST',
        reason: endedReason,
        workers: [{ id: a, reachability: 'LOST', reason: endedReason, fences: true, clean: true }],
      },
      'Worker a on host n1 has ended: it ran nothing any more.',
      null,
    ],
    [
      'its worker has ended, and another was lost before: that one is missed',
      ends,
      { workers: [worker('a'), lost('b')] },
      {
        ...none,
        reachability: 'LOST',
        reason: 'It was silent.',
        workers: [{ id: a, reachability: 'LOST', reason: endedReason, fences: true, clean: true }],
      },
      'Worker a on host n1 has ended: it ran nothing any more.',
      null,
    ],
    [
      'it is cordoned',
      schedule('CORDONED'),
      {},
      { scheduling: 'CORDONED', reason: cordonedReason },
      'alice cordoned host n1: it takes no new replicas.',
      'alice',
    ],
    [
      'it is cordoned in the midst of a drain',
      schedule('CORDONED'),
      { scheduling: 'DRAINING' },
      { scheduling: 'CORDONED', reason: cordonedReason },
      'alice cordoned host n1: it takes no new replicas, and those that have not left it stay.',
      'alice',
    ],
    [
      'it is opened',
      schedule('OPEN'),
      { scheduling: 'CORDONED' },
      { wakesPlacement: true },
      'alice uncordoned host n1: it takes replicas.',
      'alice',
    ],
    [
      'it is opened in the midst of a drain',
      schedule('OPEN'),
      { scheduling: 'DRAINING' },
      { wakesPlacement: true },
      'alice uncordoned host n1: it takes replicas, and those that have not left it stay.',
      'alice',
    ],
    [
      'it is opened in the midst of the drain of a worker',
      schedule('OPEN'),
      { workers: [worker('a', { draining: true }), worker('b')] },
      { ...two, wakesPlacement: true, workers: [{ id: a }] },
      'alice uncordoned host n1: it takes replicas, and those that have not left it stay.',
      'alice',
    ],
    [
      'it is drained, and empty',
      schedule('DRAINING'),
      {},
      { scheduling: 'DRAINING', reason: drainedReason },
      'alice drained host n1: it has no replicas, and takes none.',
      'alice',
    ],
    [
      'it is drained while it is silent',
      schedule('DRAINING'),
      { workers: [silent('a')] },
      { scheduling: 'DRAINING', reachability: 'UNREACHABLE', reason: 'It is silent.' },
      'alice drains host n1: its replicas are replaced elsewhere, within the limits of their services.',
      'alice',
    ],
    [
      'its last replica has left',
      drained,
      { scheduling: 'DRAINING', reason: drainingReason },
      { scheduling: 'DRAINING', reason: drainedReason },
      'Host n1 is drained: none of its replicas is left on it.',
      'xce',
    ],
    [
      'its loss is confirmed',
      confirms,
      { workers: [silent('a', { held: true })] },
      {
        ...none,
        reachability: 'LOST',
        reason: 'alice confirmed that it is lost.',
        workers: [
          { id: a, reachability: 'LOST', reason: 'alice confirmed that it is lost.', held: true, fences: true },
        ],
      },
      'alice confirmed that host n1 is lost.',
      'alice',
    ],
    [
      'the loss of one worker is confirmed, beside one that is reachable',
      confirms,
      { workers: [silent('a'), worker('b')] },
      {
        workers: [
          { id: a, reachability: 'LOST', reason: 'alice confirmed that it is lost.', held: true, fences: true },
        ],
      },
      'alice confirmed that 1 silent worker of host n1 (a) is lost.',
      'alice',
    ],
    [
      'the loss of two workers is confirmed, beside one that is reachable',
      confirms,
      { workers: [silent('a'), worker('b'), silent('c')] },
      {
        workers: ['a', 'c'].map((name) => ({
          id: `id-${name}`,
          reachability: 'LOST',
          reason: 'alice confirmed that it is lost.',
          held: true,
          fences: true,
        })),
      },
      'alice confirmed that 2 silent workers of host n1 (a, c) are lost.',
      'alice',
    ],
    [
      'it is removed',
      removesHost,
      { workers: [lost('a'), silent('b')] },
      {
        ...none,
        reachability: 'LOST',
        reason: 'alice removed it.',
        removes: true,
        workers: [
          { id: a, reachability: 'LOST', reason: 'It was silent.', removes: true },
          { id: 'id-b', reachability: 'UNREACHABLE', reason: 'It is silent.', removes: true },
        ],
      },
      'alice removed host n1.',
      'alice',
    ],
    [
      'a worker is removed',
      removesWorker,
      { workers: [lost('a'), worker('b')] },
      { wakesPlacement: true, workers: [{ id: a, reachability: 'LOST', reason: 'It was silent.', removes: true }] },
      'alice removed worker a of host n1.',
      'alice',
    ],
    [
      'its last worker is removed',
      removesWorker,
      { workers: [lost('a')] },
      {
        ...none,
        reachability: 'LOST',
        reason: 'It has no worker.',
        wakesPlacement: true,
        workers: [{ id: a, reachability: 'LOST', reason: 'It was silent.', removes: true }],
      },
      'alice removed worker a of host n1.',
      'alice',
    ],
    [
      'ports are free again',
      frees,
      { workers: [worker('a'), worker('b', { draining: true })] },
      { ...two, reason: 'Of its 2 workers b is being drained.', wakesPlacement: true },
      'Host n1 has the ports back that were kept for a worker which is gone, or runs nothing of it any more.',
      'xce',
    ],
  ])('%s', (_what, change, host, becomes, message, actor) => {
    expect(decide(change, host)).toEqual({ kind: 'changed', next: next(becomes), message, actor })
  })

  test.each<[string, HostChange, Host, Becomes, string]>([
    [
      'it is drained',
      schedule('DRAINING'),
      {},
      { scheduling: 'DRAINING', reason: drainingReason },
      'alice drains host n1: its replicas are replaced elsewhere, within the limits of their services.',
    ],
    [
      'a worker is back in the midst of a drain',
      returns,
      { workers: [lost('a')], scheduling: 'DRAINING' },
      { scheduling: 'DRAINING', reason: drainingReason, wakesPlacement: true, workers: [{ id: a, clean: true }] },
      'Host n1 is back, and runs nothing that was replaced.',
    ],
  ])('with replicas on it: %s', (_what, change, host, becomes, message) => {
    expect(decide(change, host, 2)).toMatchObject({ next: next(becomes), message })
  })

  test('that it is drained is said in its reason only where it was said before, or may be said', () => {
    const host = { scheduling: 'DRAINING', workers: [worker('a'), worker('b')] } as const
    expect(decide(drains, { ...host, reason: drainingReason })).toMatchObject({ next: { reason: drainingReason } })
    expect(decide(drains, { ...host, reason: drainedReason })).toMatchObject({ next: { reason: drainedReason } })
  })
})

describe('nothing is changed (R15) where', () => {
  test.each<[string, HostChange, Host]>([
    ['it is UNREACHABLE already', judge('UNREACHABLE'), { workers: [silent('a')] }],
    ['it is LOST already', judge('LOST'), { workers: [lost('a')] }],
    ['it is LOST, and so not held', judge('HELD'), { workers: [lost('a')] }],
    ['it is held already', judge('HELD'), { workers: [silent('a', { held: true })] }],
    ['the judged one is not there', judge('LOST'), { workers: [silent('b')] }],
    ['it is REACHABLE already', returns, {}],
    ['the returned one is not there', returns, { workers: [lost('b')] }],
    ['it is drained already', drains, { workers: [worker('a', { draining: true })] }],
    ['the drained one is not there', drains, { workers: [worker('b')] }],
    ['it is LOST already when it ends', ends, { workers: [lost('a')] }],
    ['it is LOST already when it leaves', leaves, { workers: [lost('a')] }],
    ['the one that leaves is not there', leaves, { workers: [worker('b')] }],
    ['the host is not being drained', drained, {}],
    ['the host is silent', drained, { scheduling: 'DRAINING', workers: [silent('a')] }],
    ['it was said that it is drained', drained, { scheduling: 'DRAINING', reason: drainedReason }],
  ])('%s', (_what, change, host) => {
    expect(decide(change, host)).toEqual({ kind: 'unchanged' })
  })

  test('a replica is left on the host', () => {
    expect(decide(drained, { scheduling: 'DRAINING', reason: drainingReason }, 1)).toEqual({ kind: 'unchanged' })
  })
})

describe('refused (R15)', () => {
  test.each<[HostChange, Host, number, string, string]>([
    [schedule('OPEN'), {}, 0, 'NO_CHANGE', 'Host n1 is OPEN already: there is nothing to change.'],
    [
      schedule('CORDONED'),
      { scheduling: 'CORDONED' },
      0,
      'NO_CHANGE',
      'Host n1 is CORDONED already: there is nothing to change.',
    ],
    [
      schedule('DRAINING'),
      { scheduling: 'DRAINING' },
      0,
      'NO_CHANGE',
      'Host n1 is DRAINING already: there is nothing to change.',
    ],
    [confirms, { workers: [lost('a')] }, 0, 'INVALID_STATE', 'Host n1 is lost already.'],
    [confirms, {}, 0, 'INVALID_STATE', 'Host n1 is reachable, so that it is not lost: drain it, then stop its worker.'],
    [
      removesHost,
      {},
      0,
      'INVALID_STATE',
      'Host n1 is reachable: drain it, stop its worker, and remove it when its lease is over.',
    ],
    [
      removesHost,
      { workers: [lost('a')] },
      1,
      'INVALID_STATE',
      'Host n1 has 1 replica that has not ended: what a lost host had is being replaced, so try again.',
    ],
    [
      removesHost,
      { workers: [silent('a')] },
      2,
      'INVALID_STATE',
      'Host n1 has 2 replicas that have not ended: wait until it is lost, or use confirmHostLoss.',
    ],
    [removesWorker, {}, 0, 'INVALID_STATE', 'Worker a is reachable: drain and stop it, and remove it when it is lost.'],
    [
      removesWorker,
      { workers: [silent('a')] },
      0,
      'INVALID_STATE',
      'Worker a is not lost yet: wait until its grace is over, or use confirmHostLoss of host n1.',
    ],
    [
      removesWorker,
      { workers: [lost('a')] },
      2,
      'INVALID_STATE',
      'Worker a has 2 replicas that are being replaced: try again.',
    ],
    [
      removesWorker,
      { workers: [lost('b')] },
      0,
      'NOT_FOUND',
      'There is no worker named "a": see the workers of the query hosts.',
    ],
  ])('%s with %o and %i replicas: %s', (change, host, replicas, code, message) => {
    const path = ['input', change.kind === 'removeWorker' ? 'worker' : 'host']
    expect(decide(change, host, replicas)).toEqual({ kind: 'refused', refusal: { code, message, path } })
  })

  test.each([schedule('OPEN'), confirms, removesHost])('$kind of a host that is not there', (change) => {
    const message = 'There is no host named "n1": see the query hosts.'
    expect(notFound(change)).toEqual({ code: 'NOT_FOUND', message, path: ['input', 'host'] })
  })
})

test('replicas that need not be counted change nothing', () => {
  const changes = [
    judge('UNREACHABLE'),
    judge('LOST'),
    judge('HELD'),
    returns,
    drains,
    ends,
    leaves,
    drained,
    confirms,
    removesHost,
    removesWorker,
    frees,
  ]
  const all: readonly HostChange[] = [...changes, ...(['OPEN', 'CORDONED', 'DRAINING'] as const).map(schedule)]
  const reasons = [null, drainedReason]
  for (const change of all)
    for (const scheduling of ['OPEN', 'CORDONED', 'DRAINING'] as const)
      for (const reason of reasons)
        for (const workers of [[worker('a')], [silent('a')], [lost('a')], [lost('a'), worker('b')]]) {
          const host = hostOf({ scheduling, reason, workers })
          const { onHost, onWorker } = looksAt(host, change)
          const counted = { onHost: onHost ? 3 : 0, onWorker: onWorker ? 3 : 0 }
          expect(decideHost(host, change, counted)).toEqual(decideHost(host, change, { onHost: 3, onWorker: 3 }))
        }
})
