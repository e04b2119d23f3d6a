import type { BlockReason } from '../../generated/prisma/enums.ts'
import type { Blocker } from '../../model/blocker.ts'
import { counted } from '../../model/counted.ts'
import type { Instant, ReplicaId } from '../../model/id.ts'
import { isActive, isOutdated } from '../../model/replica.ts'
import type { Replica, Rollout } from '../../model/service.ts'
import {
  blockerTable,
  bySeverity,
  failingHint,
  failureAdvice,
  failureCause,
  isOfNature,
  isReplicaReason,
  nameOf,
  type ReplicaReason,
  type Waiting,
  waitMessage,
} from '../blocker/blockerTable.ts'
import { clauseOf } from '../draft/clause.ts'
import { type Draft, targetOf } from '../draft/draft.ts'
import { keyOf } from '../draft/slot.ts'
import { collectWaits, type Waits } from '../waiting/waits.ts'

/**
 * Says what the rollout waits for, from its first commit on and by a replica's name (R8); null when it waits for
 * nothing.
 */
export function rolloutBlockerOf(draft: Draft, rollout: Rollout, now: Instant): Blocker | null {
  const blocker = (reason: BlockReason, message: string, count: number, replica: ReplicaId | null): Blocker => {
    const since = rollout.blocker?.reason === reason ? rollout.blocker.since : now
    return { reason, message, count, since, until: null, replica }
  }
  if (draft.columns.paused) return blocker('ROLLOUT_PAUSED', blockerTable.ROLLOUT_PAUSED.message(rollout), 1, null)
  const waits = waitsOfTarget(draft)
  for (const reason of bySeverity) {
    const wait = isReplicaReason(reason) ? waits.get(reason) : undefined
    if (!isReplicaReason(reason) || wait === undefined) continue
    const { first, count, until } = wait
    return { ...blocker(reason, messageOf(rollout, reason, { draft, first, count }), count, first.id), until }
  }
  const { contentNumber } = targetOf(draft)
  const old = draft.alive.rows.filter((row) => isActive(row) && isOutdated(row, contentNumber))
  const [first] = old
  if (first === undefined) return null
  return blocker('STOPPING_OLD', waitMessage('STOPPING_OLD', { draft, first, count: old.length }), old.length, first.id)
}

/** Collects what the target's replicas wait for that are not available yet. */
export function waitsOfTarget(draft: Draft): ReadonlyMap<ReplicaReason, Waits> {
  const { contentNumber } = targetOf(draft)
  return collectWaits(draft, (row) => !row.available && !isOutdated(row, contentNumber))
}

/** A rollout that goes well waits too, so its usual waits name no help but the log of a replica that has failed. */
function messageOf(rollout: Rollout, reason: ReplicaReason, waiting: Waiting): string {
  if (isOfNature(reason, 'usual')) {
    const failing = reason === 'WAITING_FOR_READY' ? failingHint(waiting) : null
    const why = failing === null ? '' : `: ${failing}`
    return `${blockerTable[reason].waitsFor(waiting)}${why}${failureHint(waiting.draft)}.`
  }
  const message = waitMessage(reason, waiting)
  return isOfNature(reason, 'noPlace') ? `${message}${roomHint(waiting.draft, rollout, reason)}` : message
}

/**
 * Names the new replica that went wrong most often, as the end of a sentence. It does so from the first failure on,
 * long before a CRASH_LOOP.
 */
function failureHint(draft: Draft): string {
  const { contentNumber } = targetOf(draft)
  let worst: { readonly row: Replica; readonly failures: number } | null = null
  for (const row of draft.alive.rows) {
    if (row.available || !isActive(row) || isOutdated(row, contentNumber)) continue
    const failures = draft.slots.get(keyOf(row))?.failures ?? 0
    if (failures === 0 && row.start < 2) continue
    if (worst === null || failures > worst.failures || (failures === worst.failures && row.start > worst.row.start))
      worst = { row, failures }
  }
  if (worst === null) return ''
  const { row, failures } = worst
  const what = failures > 0 ? `failed ${times(failures)}` : `been restarted in place ${times(row.start - 1)}`
  const slot = draft.slots.get(keyOf(row))
  const exit = row.lastExit?.message ?? null
  const cause = failures > 0 ? failureCause(slot) : exit === null ? null : clauseOf(exit)
  const why = cause === null ? '' : ` (${cause})`
  return `; ${nameOf({ draft, first: row, count: 1 })} has ${what}${why}: ${failureAdvice(slot)}`
}

const times = (count: number): string => (count === 1 ? 'once' : counted(count, 'time'))

/** Says who is about to make room. R1: an explicit "none unavailable" that cannot work says so. */
function roomHint(draft: Draft, rollout: Rollout, reason: ReplicaReason): string {
  const stopping = draft.alive.rows.filter((row) => row.state === 'STOPPING').length
  if (stopping > 0) {
    return ` ${counted(stopping, 'replica')} of ${draft.base.name} ${stopping === 1 ? 'is' : 'are'} being stopped, which may make room.`
  }
  if (rollout.maxUnavailable > 0 || rollout.oldReplicas === 0) return ''
  const other = reason === 'QUOTA' ? 'raise the quota' : 'add a host'
  return ` None of the old ones may make room, because maxUnavailable is 0: allow 1 unavailable or ${other}.`
}
