import type { Reachability } from '../../generated/prisma/enums.ts'
import { counted } from '../../model/counted.ts'
import type { HostId, Instant, WorkerId } from '../../model/id.ts'

/** A worker as its lease shows it. */
export interface LeasedWorker {
  readonly id: WorkerId
  readonly name: string
  readonly hostId: HostId
  readonly hostName: string
  readonly reachability: Reachability
  /** Since when it has this reachability. */
  readonly since: Instant
  readonly leaseUntil: Instant
  /** Since when its host has its reachability. */
  readonly hostSince: Instant
  /**
   * The worker is UNREACHABLE and the brake keeps it from being LOST, or it is LOST by an operator's word
   * (confirmHostLoss).
   */
  readonly held: boolean
  /** The worker or its host is being drained, so somebody means to end it. */
  readonly draining: boolean
}

export interface LeaseView {
  /** All workers; of the LOST ones at least those that are `held`. */
  readonly workers: readonly LeasedWorker[]
  /** No lease began before this instant: the server started then, or could not have taken a renewal until then. */
  readonly countsFrom: Instant
  readonly now: Instant
  readonly leaseSeconds: number
  readonly graceSeconds: number
}

export interface WorkerVerdict {
  readonly worker: LeasedWorker
  /** HELD means that only the brake keeps it from being LOST. */
  readonly to: 'UNREACHABLE' | 'LOST' | 'HELD'
  readonly reason: string
  /** The sentence of the event. */
  readonly message: string
}

export interface WorkerVerdicts {
  readonly verdicts: readonly WorkerVerdict[]
  /** When the next lease or grace may be over; null when there is none to wait for. */
  readonly wakeAt: Instant | null
}

/** The brake needs at least this many hosts: of fewer, all may be lost at once. */
const fewestForBrake = 3

const heldReason =
  'It has been silent for longer than its grace, and so have most hosts: that is more likely the network or the servers. See whether it runs: it is LOST when confirmHostLoss says so.'

/**
 * R15: a REACHABLE worker whose lease is over becomes UNREACHABLE, and one whose grace is over as well becomes LOST.
 * The brake: while more than half of at least 3 hosts are silent at once, with all of their workers, none becomes LOST
 * until one returns or joins; then the others have one more lease and grace to return, too. An operator's word is about
 * one host: whatever is held beside it stays held, and the host still counts as silent. A host that is being drained is
 * meant to fall silent, so it counts neither way.
 */
export function judgeLeases(view: LeaseView): WorkerVerdicts {
  const workers = view.workers.filter(({ reachability }) => reachability !== 'LOST')
  const count = countHosts(view)
  const braked = count.all >= fewestForBrake && count.silent * 2 > count.all
  const hosts = new Hosts(workers)
  const returnedAt = lastReturn(workers, view)
  const verdicts: WorkerVerdict[] = []
  let wakeAt = Number.POSITIVE_INFINITY
  for (const worker of workers) {
    const leaseEnd = leaseEndOf(worker, view)
    if (leaseEnd > view.now) {
      wakeAt = Math.min(wakeAt, leaseEnd)
    } else if (worker.reachability === 'REACHABLE') {
      verdicts.push(unreachable(worker, hosts, view))
    } else {
      const graceEnd = leaseEnd + view.graceSeconds * 1000
      const lostAt = braked || worker.held ? lostAtBraked(worker, graceEnd, returnedAt, view) : graceEnd
      if (lostAt !== null && lostAt <= view.now) verdicts.push(lost(worker, hosts, view))
      else if (lostAt !== null) wakeAt = Math.min(wakeAt, lostAt)
      else if (graceEnd > view.now) wakeAt = Math.min(wakeAt, graceEnd)
      else if (!worker.held) verdicts.push(held(worker, hosts, count))
    }
  }
  return { verdicts, wakeAt: Number.isFinite(wakeAt) ? wakeAt : null }
}

interface HostCount {
  readonly all: number
  readonly silent: number
}

/**
 * Counts the hosts for the brake. A host is silent when all of its workers are. A host that an operator confirmed as
 * lost counts as silent beside those that were silent already; its loss says nothing about silence that begins long
 * after.
 */
function countHosts(view: LeaseView): HostCount {
  const silentByHost = new Map<HostId, boolean>()
  let silentSince = Number.POSITIVE_INFINITY
  for (const worker of view.workers) {
    if (worker.reachability === 'LOST' || worker.draining) continue
    const leaseEnd = leaseEndOf(worker, view)
    const isSilent = leaseEnd <= view.now
    if (isSilent) silentSince = Math.min(silentSince, worker.reachability === 'UNREACHABLE' ? worker.since : leaseEnd)
    silentByHost.set(worker.hostId, isSilent && silentByHost.get(worker.hostId) !== false)
  }
  for (const { hostId, reachability, held, draining, hostSince } of view.workers) {
    const counts = reachability === 'LOST' && held && !draining && hostSince > silentSince
    if (counts && !silentByHost.has(hostId)) silentByHost.set(hostId, true)
  }
  return { all: silentByHost.size, silent: [...silentByHost.values()].filter(Boolean).length }
}

/** Names the hosts of workers for messages. */
class Hosts {
  /** How many workers each host has. */
  readonly #workers = new Map<HostId, number>()

  constructor(workers: readonly LeasedWorker[]) {
    for (const { hostId } of workers) this.#workers.set(hostId, (this.#workers.get(hostId) ?? 0) + 1)
  }

  /** Names the host, or the worker if the host has others: "Host n1". */
  subject({ name, hostId, hostName }: LeasedWorker): string {
    return this.#isAlone(hostId) ? `Host ${hostName}` : `Worker ${name} on host ${hostName}`
  }

  /** Says who is silent. */
  silentOne({ hostId }: LeasedWorker): string {
    return this.#isAlone(hostId) ? 'its worker' : 'it'
  }

  #isAlone(host: HostId): boolean {
    return this.#workers.get(host) === 1
  }
}

function leaseEndOf({ leaseUntil }: LeasedWorker, { countsFrom, leaseSeconds }: LeaseView): Instant {
  return Math.max(leaseUntil, countsFrom + leaseSeconds * 1000)
}

/**
 * Finds when a host that is reachable now last came or came back. One more worker on a host that was there proves
 * nothing.
 */
function lastReturn(workers: readonly LeasedWorker[], view: LeaseView): Instant | null {
  let last: Instant | null = null
  for (const worker of workers) {
    if (worker.reachability !== 'REACHABLE' || leaseEndOf(worker, view) <= view.now) continue
    last = Math.max(last ?? worker.hostSince, worker.hostSince)
  }
  return last
}

/**
 * With the brake on, a worker is LOST a lease and a grace after another one returned, if that one returned after this
 * one fell silent. Its lease does not tell when it fell silent, because a server's start or a last renewal moves it.
 * Null means that time alone does not make it LOST.
 */
function lostAtBraked(
  { since }: LeasedWorker,
  graceEnd: Instant,
  returnedAt: Instant | null,
  { leaseSeconds, graceSeconds }: LeaseView,
): Instant | null {
  return returnedAt !== null && returnedAt > since
    ? Math.max(returnedAt + (leaseSeconds + graceSeconds) * 1000, graceEnd)
    : null
}

function unreachable(worker: LeasedWorker, hosts: Hosts, { graceSeconds }: LeaseView): WorkerVerdict {
  const reason = `It is silent: its lease is over. It is lost when it is not back within ${graceSeconds} s.`
  const message = `${hosts.subject(worker)} can't be reached: ${hosts.silentOne(worker)} has not renewed its lease. It is lost when it is not back within ${graceSeconds} s.`
  return { worker, to: 'UNREACHABLE', reason, message }
}

function lost(worker: LeasedWorker, hosts: Hosts, { leaseSeconds, graceSeconds }: LeaseView): WorkerVerdict {
  const reason = `It was silent for a lease (${leaseSeconds} s) and a grace (${graceSeconds} s): its replicas are replaced. It takes others when it is back.`
  const message = `${hosts.subject(worker)} is lost: it was silent for longer than its lease and ${graceSeconds} s of grace. Its replicas are replaced elsewhere.`
  return { worker, to: 'LOST', reason, message }
}

function held(worker: LeasedWorker, hosts: Hosts, { all, silent }: HostCount): WorkerVerdict {
  const message = `${hosts.subject(worker)} is not judged to be lost, although its grace is over: ${silent} of ${counted(all, 'host')} are silent at once. See whether they run; confirmHostLoss says that one is lost.`
  return { worker, to: 'HELD', reason: heldReason, message }
}
