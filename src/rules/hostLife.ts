import type { Reachability } from '../generated/prisma/enums.ts'
import type { HostId, Instant } from '../model/id.ts'
import { counted } from './counted.ts'

/** A host by its lease, which is the last of its workers' leases. */
export interface LeasedHost {
  readonly id: HostId
  readonly name: string
  readonly reachability: Reachability
  /** Since when it is that. */
  readonly reachabilitySince: Instant
  /** Null: no worker is registered on it. */
  readonly leaseUntil: Instant | null
  /** Why it is not simply open and reachable, as it was said last. */
  readonly reason: string | null
}

export interface LeaseView {
  readonly hosts: readonly LeasedHost[]
  /** Every lease is as good as begun then: the server started, or could not have taken a renewal before. */
  readonly countsFrom: Instant
  readonly now: Instant
  readonly leaseSeconds: number
  readonly graceSeconds: number
}

export interface HostVerdict {
  readonly host: LeasedHost
  /** HELD: it would be LOST, but for the brake. */
  readonly to: 'UNREACHABLE' | 'LOST' | 'HELD'
  readonly reason: string
  /** The event. */
  readonly message: string
}

export interface HostVerdicts {
  readonly verdicts: readonly HostVerdict[]
  /** When the next lease or grace may be over; null: nothing is waited for. */
  readonly wakeAt: Instant | null
}

/** Fewer hosts than these may all be lost at once. */
const fewestForBrake = 3

export const heldReason =
  'It is silent for longer than its grace, as most hosts are: that is more likely the network or the servers. See whether it runs: it is LOST when confirmHostLoss says so.'

/** Of a host that is being drained and has no replica left. */
export const drainedReason = 'It is drained: it has no replicas, and takes no new ones until uncordonHost.'

export function drainedMessage(name: string): string {
  return `Host ${name} is drained: none of its replicas is left on it.`
}

/**
 * R15: a REACHABLE host whose lease is over is UNREACHABLE; one whose grace is over as well is LOST. The brake: while more than half of at least 3
 * hosts are silent at once, none is LOST until one returns, and then the others have a lease and a grace more to return too.
 */
export function judgeHosts(view: LeaseView): HostVerdicts {
  const hosts = view.hosts.filter((host) => host.reachability !== 'LOST')
  const silent = hosts.filter((host) => leaseEndOf(host, view) <= view.now)
  const braked = hosts.length >= fewestForBrake && silent.length * 2 > hosts.length
  const returnedAt = lastReturn(hosts, view)
  const verdicts: HostVerdict[] = []
  let wakeAt = Number.POSITIVE_INFINITY
  for (const host of hosts) {
    const leaseEnd = leaseEndOf(host, view)
    if (leaseEnd > view.now) {
      wakeAt = Math.min(wakeAt, leaseEnd)
    } else if (host.reachability === 'REACHABLE') {
      verdicts.push(unreachable(host, view))
    } else {
      const lostAt = braked ? lostAtBraked(leaseEnd, returnedAt, view) : leaseEnd + view.graceSeconds * 1000
      if (lostAt !== null && lostAt <= view.now) verdicts.push(lost(host, view))
      else if (lostAt !== null) wakeAt = Math.min(wakeAt, lostAt)
      else if (leaseEnd + view.graceSeconds * 1000 > view.now) wakeAt = Math.min(wakeAt, leaseEnd + view.graceSeconds * 1000)
      else if (host.reason !== heldReason) verdicts.push(held(host, silent.length, hosts.length))
    }
  }
  return { verdicts, wakeAt: Number.isFinite(wakeAt) ? wakeAt : null }
}

function leaseEndOf(host: LeasedHost, { countsFrom, leaseSeconds }: LeaseView): Instant {
  return Math.max(host.leaseUntil ?? host.reachabilitySince, countsFrom + leaseSeconds * 1000)
}

/** When a host last came (back) that is reachable now. */
function lastReturn(hosts: readonly LeasedHost[], view: LeaseView): Instant | null {
  const since = hosts.flatMap((host) =>
    host.reachability === 'REACHABLE' && leaseEndOf(host, view) > view.now ? [host.reachabilitySince] : [],
  )
  return since.length === 0 ? null : Math.max(...since)
}

/** With the brake on: a lease and a grace after somebody returned, when that was later than this one fell silent. Null: not by itself. */
function lostAtBraked(leaseEnd: Instant, returnedAt: Instant | null, { leaseSeconds, graceSeconds }: LeaseView): Instant | null {
  return returnedAt !== null && returnedAt > leaseEnd ? returnedAt + (leaseSeconds + graceSeconds) * 1000 : null
}

function unreachable(host: LeasedHost, { graceSeconds }: LeaseView): HostVerdict {
  const reason = `Its worker is silent: the lease is over, and the host is lost after ${graceSeconds} s more.`
  const message = `Host ${host.name} can't be reached: its worker has not renewed its lease. It is lost after ${graceSeconds} s more.`
  return { host, to: 'UNREACHABLE', reason, message }
}

function lost(host: LeasedHost, { leaseSeconds, graceSeconds }: LeaseView): HostVerdict {
  const reason = `It was silent for a lease (${leaseSeconds} s) and a grace (${graceSeconds} s): its replicas are replaced. It takes others when its worker is back.`
  const message = `Host ${host.name} is lost: it was silent for longer than its lease and ${graceSeconds} s of grace. Its replicas are replaced elsewhere.`
  return { host, to: 'LOST', reason, message }
}

function held(host: LeasedHost, silent: number, all: number): HostVerdict {
  const message = `Host ${host.name} is not taken for lost, though its grace is over: ${silent} of ${counted(all, 'host')} are silent at once. See whether they run; confirmHostLoss says that one is lost.`
  return { host, to: 'HELD', reason: heldReason, message }
}
