import type { BlockReason } from '../../generated/prisma/enums.ts'
import type { Blocker } from '../../model/blocker.ts'
import { clauseOf } from '../../model/clause.ts'
import type { PortDeclaration } from '../../model/content.ts'
import { counted } from '../../model/counted.ts'
import type { Instant, ReplicaId } from '../../model/id.ts'
import { isActive, isOutdated, isPlaced } from '../../model/replica.ts'
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
  remedyAndObjects,
  type Waiting,
  waitMessage,
} from '../blocker/blockerTable.ts'
import { type Draft, targetOf, versionOf } from '../draft/draft.ts'
import { keyOf } from '../draft/slot.ts'
import { collectWaits, type Waits } from '../waiting/waits.ts'
import { hasFailing } from './failing.ts'

/**
 * Says what the rollout waits for, from its first commit on and by a replica's name (R8); null when it waits for
 * nothing.
 */
export function rolloutBlockerOf(draft: Draft, rollout: Rollout, now: Instant): Blocker | null {
  const blocker = (reason: BlockReason, message: string, count: number, replica: ReplicaId | null): Blocker => {
    const since = rollout.blocker?.reason === reason ? rollout.blocker.since : now
    return { reason, message, count, since, until: null, replica }
  }
  if (draft.columns.paused) {
    const { message, remedy } = blockerTable.ROLLOUT_PAUSED
    return { ...blocker('ROLLOUT_PAUSED', message(rollout), 1, null), remedy: remedy() }
  }
  const waits = waitsOfTarget(draft, rollout)
  for (const reason of bySeverity) {
    const wait = isReplicaReason(reason) ? waits.get(reason) : undefined
    if (!isReplicaReason(reason) || wait === undefined) continue
    const { first, count, until } = wait
    const waiting = { draft, first, count }
    return {
      ...blocker(reason, messageOf(rollout, reason, waiting), count, first.id),
      ...remedyAndObjects(reason, waiting),
      until,
    }
  }
  const { contentNumber } = targetOf(draft)
  const old = draft.alive.rows.filter((row) => isActive(row) && isOutdated(row, contentNumber))
  const [first] = old
  if (first === undefined) return null
  return blocker('STOPPING_OLD', waitMessage('STOPPING_OLD', { draft, first, count: old.length }), old.length, first.id)
}

/**
 * Collects what the target's replicas wait for that are not available yet. If any of them is failing, waits for a place
 * are left out, because the failing one is to be named before.
 */
function waitsOfTarget(draft: Draft, { state }: Rollout): ReadonlyMap<ReplicaReason, Waits> {
  const { contentNumber } = targetOf(draft)
  const waits = collectWaits(draft, (row) => !row.available && !isOutdated(row, contentNumber))
  if (!hasFailing(draft, state === 'STALLED')) return waits
  return new Map([...waits].filter(([reason]) => !isOfNature(reason, 'noPlace')))
}

/**
 * Says what the rollout waits for in words that stay the same while only names, counts and instants differ: the set of
 * its troubles, or else its usual wait, and whether a replica has failed.
 */
export function waitCauseOf(draft: Draft, rollout: Rollout, blocker: Blocker | null): string {
  if (blocker === null) return 'nothing'
  const waits = waitsOfTarget(draft, rollout)
  const troubles = bySeverity.filter(
    (reason) => isReplicaReason(reason) && waits.has(reason) && !isOfNature(reason, 'usual'),
  )
  if (draft.columns.paused || troubles.length === 0)
    return `${blocker.reason}${!draft.columns.paused && failureHint(draft) !== '' ? ' after failures' : ''}`
  return troubles.join(' ')
}

/** A rollout that goes well waits too, so its usual waits name no help but the log of a replica that has failed. */
function messageOf(rollout: Rollout, reason: ReplicaReason, waiting: Waiting): string {
  if (isOfNature(reason, 'usual')) {
    const failing = reason === 'WAITING_FOR_READY' ? failingHint(waiting) : null
    const why = failing === null ? '' : `: ${failing}`
    return `${blockerTable[reason].waitsFor(waiting)}${why}${failureHint(waiting.draft)}.`
  }
  const message = waitMessage(reason, waiting)
  return isOfNature(reason, 'noPlace') ? `${message}${roomHint(waiting, rollout, reason)}` : message
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
function roomHint({ draft, first }: Waiting, rollout: Rollout, reason: ReplicaReason): string {
  const stopping = draft.alive.rows.filter((row) => row.state === 'STOPPING').length
  if (stopping > 0) {
    return ` ${counted(stopping, 'replica')} of ${draft.base.name} ${stopping === 1 ? 'is' : 'are'} being stopped, which may make room.`
  }
  if (rollout.maxUnavailable > 0 || rollout.oldReplicas === 0) return ''
  const toStop = stopsThatHelp(draft, reason, first)
  if (toStop === null) return ''
  const other = reason === 'QUOTA' ? 'raise the quota' : 'add a host'
  return ` None of the old ones may make room, because maxUnavailable is 0: allow ${toStop} unavailable or ${other}.`
}

/**
 * Finds how many of the old replicas have to stop before the new one has room; null where no number of them helps for
 * certain, whichever of them are stopped.
 */
function stopsThatHelp(draft: Draft, reason: ReplicaReason, replica: Replica): number | null {
  const { contentNumber } = targetOf(draft)
  const old = draft.alive.rows.filter((row) => isActive(row) && isOutdated(row, contentNumber))
  if (reason === 'QUOTA') {
    const toStop = replica.blocker?.toStop ?? 1
    return toStop <= old.filter((row) => row.holdsQuota).length ? toStop : null
  }
  const { ports } = versionOf(draft, replica.versionNumber).content
  const helps = (row: Replica): boolean => {
    if (!isPlaced(row) || !row.hostReachable || row.leaving === 'DRAIN') return false
    if (reason === 'NO_CAPACITY') return row.cpuMillis >= replica.cpuMillis && row.memoryMiB >= replica.memoryMiB
    if (reason === 'NO_PORT') return ports.every((port) => isFreedBy(port, row))
    return reason === 'SPREAD'
  }
  return old.every(helps) ? 1 : null
}

/** Whether the end of the replica frees the declared port on its host. */
function isFreedBy({ name, port, protocol }: PortDeclaration, { ports }: Replica): boolean {
  return ports.some((held) => held.protocol === protocol && (port === null ? held.name === name : held.port === port))
}
