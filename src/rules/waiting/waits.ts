import type { Instant } from '../../model/id.ts'
import { isActive } from '../../model/replica.ts'
import type { Replica, Slot } from '../../model/service.ts'
import { isReplicaReason, type ReplicaReason } from '../blocker/blockerTable.ts'
import type { Draft } from '../draft/draft.ts'
import { minReadySecondsOf } from '../draft/minReady.ts'
import { failingProbe } from '../draft/probeText.ts'
import { keyOf } from '../draft/slot.ts'
import { isCrashLooping, resetAt, waitEnd } from '../replica/backoff.ts'
import { availableFrom } from '../replica/readiness.ts'

/** What the active replicas wait for that share a reason. */
export interface Waits {
  /** The one to name: of those that are not ready one whose probe is known to fail. */
  first: Replica
  count: number
  since: Instant | null
  until: Instant | null
}

/** Collects what the active replicas wait for that `counts` accepts. Each of them is in at most one of the waits. */
export function collectWaits(draft: Draft, counts: (row: Replica) => boolean): Map<ReplicaReason, Waits> {
  const waits = new Map<ReplicaReason, Waits>()
  // An available replica waits for nothing, unless its slot has failed, its host has no address or another one, or it is to leave its host.
  const quiet =
    draft.slots.size === 0 && !draft.alive.rows.some((row) => (leavesItsHost(row) && isActive(row)) || isUnlisted(row))
  for (const row of draft.alive.rows) {
    if (quiet && row.available) continue
    if (!isActive(row) || !counts(row)) continue
    const reason = reasonOf(draft, row)
    if (reason === null) continue
    const known = waits.get(reason)
    const since = row.blocker?.since ?? null
    const until = untilOf(draft, row, reason)
    if (known === undefined) {
      waits.set(reason, { first: row, count: 1, since, until })
      continue
    }
    known.count++
    if (reason === 'WAITING_FOR_READY' && failingProbe(known.first) === null && failingProbe(row) !== null)
      known.first = row
    known.since = earliest(known.since, since)
    known.until = earliest(known.until, until)
  }
  return waits
}

/** The one thing a replica waits for; null when it waits for nothing. */
function reasonOf(draft: Draft, row: Replica): ReplicaReason | null {
  if (draft.slots.size > 0 && isCrashLooping(slotOf(draft, row))) return 'CRASH_LOOP'
  if (row.state === 'PENDING') {
    const { reason = 'QUEUED' } = row.blocker ?? {}
    return isReplicaReason(reason) ? reason : 'QUEUED'
  }
  if (!row.hostReachable) return 'HOST_UNREACHABLE'
  if (row.leaving === 'MOVED') return 'NO_ADDRESS'
  // R13: a placed replica has a blocker only while its ports were in use again and again.
  if (!row.ready) return row.blocker === null ? 'WAITING_FOR_READY' : 'NO_PORT'
  if (isUnlisted(row)) return 'NO_ADDRESS'
  if (!row.available) return 'MIN_READY'
  if (row.leaving === 'REQUEUE') return 'REQUEUED'
  return row.leaving === 'DRAIN' ? 'HOST_DRAINING' : null
}

function leavesItsHost({ leaving }: Replica): boolean {
  return leaving !== null && leaving !== 'RESTART'
}

/** R12: the replica would be listed if its host had an address. */
function isUnlisted(row: Replica): boolean {
  return row.hostId !== null && row.ports.length > 0 && row.hostAddresses.length === 0
}

function untilOf(draft: Draft, row: Replica, reason: ReplicaReason): Instant | null {
  const { settings } = draft.columns
  if (row.state === 'PENDING') return waitEnd(row)
  if (reason === 'MIN_READY' && row.readySince !== null)
    return availableFrom(row.readySince, minReadySecondsOf(draft, row))
  if (reason === 'CRASH_LOOP' && row.availableSince !== null) return resetAt(row.availableSince, settings)
  return null
}

function slotOf(draft: Draft, row: Replica): Slot | undefined {
  return draft.slots.get(keyOf(row))
}

function earliest(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null) return b
  return b === null || a < b ? a : b
}
