import type { Blocker } from '../../model/blocker.ts'
import { counted } from '../../model/counted.ts'
import type { Instant } from '../../model/id.ts'
import { isActive } from '../../model/replica.ts'
import type { Replica, Slot } from '../../model/service.ts'
import { type Draft, hostOf } from '../draft/draft.ts'
import { keyOf } from '../draft/slot.ts'
import { isCrashLooping, resetAt, waitEnd } from '../replica/backoff.ts'
import { queued } from '../replica/queued.ts'
import { availableFrom } from '../replica/readiness.ts'

/** What the active replicas of one reason wait for. */
export interface Waits {
  readonly first: Replica
  count: number
  since: Instant | null
  until: Instant | null
}

type Reason = Blocker['reason']

/** What active replicas wait for, one blocker per reason. `since` is taken over from `before`. */
export function waitsOf(draft: Draft, before: readonly Blocker[], now: Instant): Map<Reason, Blocker> {
  const blockers = new Map<Reason, Blocker>()
  for (const [reason, { first, count, since, until }] of collectWaits(draft, () => true)) {
    const kept = before.find((blocker) => blocker.reason === reason)
    const message = messageOf(draft, reason, first, count)
    blockers.set(reason, {
      reason,
      message,
      count,
      since: kept?.since ?? since ?? now,
      until,
      replica: count === 1 ? first.id : null,
    })
  }
  return blockers
}

/** What those active replicas wait for that `counts` says of. Each is in at most one of the waits. */
export function collectWaits(draft: Draft, counts: (row: Replica) => boolean): Map<Reason, Waits> {
  const waits = new Map<Reason, Waits>()
  // An available replica waits for nothing, unless its slot has failed, its host has no address, or it is to leave its host.
  const quiet =
    draft.slots.size === 0 &&
    !draft.alive.rows.some((row) => (row.leaving === 'DRAIN' && isActive(row)) || isUnlisted(draft, row))
  for (const row of draft.alive.rows) {
    if (quiet && row.available) continue
    if (!isActive(row) || !counts(row)) continue
    const reason = reasonOf(draft, row)
    if (reason === null) continue
    const known = waits.get(reason)
    const since = row.pending?.since ?? null
    const until = untilOf(draft, row, reason)
    if (known === undefined) {
      waits.set(reason, { first: row, count: 1, since, until })
      continue
    }
    known.count++
    known.since = earliest(known.since, since)
    known.until = earliest(known.until, until)
  }
  return waits
}

/** The one thing a replica waits for; null when it waits for nothing. */
function reasonOf(draft: Draft, row: Replica): Reason | null {
  if (draft.slots.size > 0 && isCrashLooping(slotOf(draft, row))) return 'CRASH_LOOP'
  if (row.state === 'PENDING') return row.pending?.reason ?? 'QUEUED'
  if (!row.hostReachable) return 'HOST_UNREACHABLE'
  if (!row.ready) return 'WAITING_FOR_READY'
  if (isUnlisted(draft, row)) return 'NO_ADDRESS'
  if (!row.available) return 'MIN_READY'
  return row.leaving === 'DRAIN' ? 'HOST_DRAINING' : null
}

/** R12: it would be listed, if its host had an address. */
function isUnlisted(draft: Draft, row: Replica): boolean {
  if (row.hostId === null || row.ports.length === 0) return false
  return (row.hostAddresses ?? hostOf(draft, row.hostId)?.addresses)?.length === 0
}

function untilOf(draft: Draft, row: Replica, reason: Reason): Instant | null {
  const { settings } = draft.columns
  if (row.state === 'PENDING') return waitEnd(row)
  if (reason === 'MIN_READY' && row.readySince !== null) return availableFrom(row.readySince, settings.minReadySeconds)
  if (reason === 'CRASH_LOOP' && row.availableSince !== null) return resetAt(row.availableSince, settings)
  return null
}

function messageOf(draft: Draft, reason: Reason, first: Replica, count: number): string {
  const { settings } = draft.columns
  const one = `Replica ${first.index}`
  const host = hostOf(draft, first.hostId)?.name ?? 'unknown'
  const many = `${counted(count, 'replica')}, the first of them replica ${first.index},`
  const subject = count === 1 ? one : many
  const [has, waits, is] = count === 1 ? ['has', 'waits', 'is'] : ['have', 'wait', 'are']
  switch (reason) {
    case 'CRASH_LOOP': {
      const failures = slotOf(draft, first)?.failures ?? 0
      if (count > 1) return `${many} have failed again and again: read their logs; resetBackoff tries them at once.`
      if (first.available) {
        return `${one} had failed ${failures} times and is available now: that is forgotten after ${settings.backoffResetAfterSeconds} s.`
      }
      return `${one} has failed ${failures} times: read its log; resetBackoff tries it at once.`
    }
    case 'WAITING_FOR_READY':
      return `${subject} ${is} started and not ready yet${count === 1 ? ` (host ${host})` : ''}: see the readiness probe and the log.`
    case 'MIN_READY':
      return `${subject} ${is} ready and ${waits} to be so for ${settings.minReadySeconds} s.`
    case 'HOST_UNREACHABLE':
      return `${subject} ${is} on a worker that cannot be reached (host ${host}): see whether it runs. If it does not, confirmHostLoss has what it ran replaced at once.`
    case 'HOST_DRAINING':
      return `${subject} ${is} to leave the worker on host ${host}, which is being drained: ${drainWait(draft)}`
    case 'NO_ADDRESS':
      return `${subject} ${has} no address to be listed with: host ${host} has none, so let its worker register with one.`
    case 'BACKOFF':
      if (count > 1) return `${many} wait after failures: read their logs; resetBackoff tries them at once.`
      return first.pending?.message ?? queued(first, 0).message
    case 'QUEUED':
      return `${subject} ${waits} to be placed.`
    default: {
      const message = first.pending?.message ?? queued(first, 0).message
      return count === 1 ? message : `${counted(count, 'replica')} wait. Of the first: ${message}`
    }
  }
}

/** What an available replica waits for before it may leave: a place for its replacement, as a rule. */
function drainWait(draft: Draft): string {
  const waiting = draft.alive.rows.find((row) => row.state === 'PENDING' && row.notBefore === null)
  if (waiting?.pending == null)
    return 'it is stopped when as many others are available as the limits of its service ask for.'
  return waiting.pending.reason === 'QUEUED'
    ? 'its replacement waits to be placed.'
    : `no place for a replacement: ${waiting.pending.message}`
}

function slotOf(draft: Draft, row: Replica): Slot | undefined {
  return draft.slots.get(keyOf(row))
}

function earliest(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null) return b
  return b === null || a < b ? a : b
}
