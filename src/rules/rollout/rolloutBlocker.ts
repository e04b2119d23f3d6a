import type { BlockReason } from '../../generated/prisma/enums.ts'
import type { Blocker } from '../../model/blocker.ts'
import { counted } from '../../model/counted.ts'
import type { Instant } from '../../model/id.ts'
import { isActive, isOutdated } from '../../model/replica.ts'
import type { Replica, Rollout } from '../../model/service.ts'
import { type Draft, hostOf, targetOf } from '../draft/draft.ts'
import { keyOf } from '../draft/slot.ts'
import { collectWaits } from '../waiting/waits.ts'

/** What stops a rollout most, first. */
const order: readonly BlockReason[] = [
  'QUOTA',
  'NO_HOST',
  'NO_CAPACITY',
  'NO_PORT',
  'SPREAD',
  'CRASH_LOOP',
  'BACKOFF',
  'HOST_UNREACHABLE',
  'QUEUED',
  'WAITING_FOR_READY',
  'MIN_READY',
  'NO_ADDRESS',
]

/** What the rollout waits for, from its first commit on, by a replica's name (R8); null when it waits for nothing. */
export function rolloutBlockerOf(draft: Draft, rollout: Rollout, now: Instant): Blocker | null {
  const since = (reason: BlockReason) => (rollout.hold?.reason === reason ? rollout.hold.since : now)
  if (draft.columns.paused) {
    const message = `Rollout ${rollout.number} is paused: resumeRollout lets it go on.`
    return { reason: 'ROLLOUT_PAUSED', message, count: 1, since: since('ROLLOUT_PAUSED'), until: null, replica: null }
  }
  const { contentNumber } = targetOf(draft)
  const waits = collectWaits(draft, (row) => !row.available && !isOutdated(row, contentNumber))
  for (const reason of order) {
    const wait = waits.get(reason)
    if (wait === undefined) continue
    const { first, count, until } = wait
    const message = waitMessage(draft, rollout, reason, first, count)
    return { reason, message, count, since: since(reason), until, replica: first.id }
  }
  const old = draft.alive.rows.filter((row) => isActive(row) && isOutdated(row, contentNumber))
  const [first] = old
  if (first === undefined) return null
  const message = `Waiting for ${named(draft, first, old.length)} to be replaced.`
  return {
    reason: 'STOPPING_OLD',
    message,
    count: old.length,
    since: since('STOPPING_OLD'),
    until: null,
    replica: first.id,
  }
}

function waitMessage(draft: Draft, rollout: Rollout, reason: BlockReason, first: Replica, count: number): string {
  const name = named(draft, first, count)
  const host = hostOf(draft, first.hostId)?.name ?? 'unknown'
  switch (reason) {
    case 'CRASH_LOOP':
    case 'BACKOFF': {
      const failures = draft.slots.get(keyOf(first))?.failures ?? 0
      const failed = count === 1 ? `which has failed ${counted(failures, 'time')}` : 'which have failed again and again'
      return `Waiting for ${name}, ${failed}: read the log; resetBackoff tries it at once.`
    }
    case 'HOST_UNREACHABLE':
      return `Waiting for ${name}, whose host ${host} cannot be reached.`
    case 'QUEUED':
      return `Waiting for ${name} to be placed${failureHint(draft)}.`
    case 'WAITING_FOR_READY':
      return `Waiting for ${name} to become ready${failureHint(draft)}.`
    case 'MIN_READY':
      return `Waiting for ${name} to have been ready for ${rollout.minReadySeconds} s${failureHint(draft)}.`
    case 'NO_ADDRESS':
      return `Waiting for ${name} to have been ready for ${rollout.minReadySeconds} s; host ${host} has no address to list it with.`
    default:
      return `Waiting for a place for ${name}: ${first.pending?.message ?? ''}${roomHint(draft, rollout, reason)}`
  }
}

/** From the first failure on, long before it is a CRASH_LOOP: the new one that went wrong most often, as the end of a sentence. */
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
  return `; ${named(draft, row, 1)} has ${what}: read its log`
}

const times = (count: number): string => (count === 1 ? 'once' : counted(count, 'time'))

/** Who makes room, where that is under way; and R1: an explicit "none unavailable" that can't work says so. */
function roomHint(draft: Draft, rollout: Rollout, reason: BlockReason): string {
  const stopping = draft.alive.rows.filter((row) => row.state === 'STOPPING').length
  if (stopping > 0) {
    return ` ${counted(stopping, 'replica')} of ${draft.base.name} ${stopping === 1 ? 'is' : 'are'} being stopped, which may make room.`
  }
  if (rollout.maxUnavailable > 0 || rollout.oldReplicas === 0) return ''
  const other = reason === 'QUOTA' ? 'raise the quota' : 'add a host'
  return ` None of the old ones may make room, because maxUnavailable is 0: allow 1 unavailable or ${other}.`
}

/** "web[4]", "web[4] and 2 more". */
function named(draft: Draft, row: Pick<Replica, 'index'>, count: number): string {
  const name = `${draft.base.name}[${row.index}]`
  return count === 1 ? name : `${name} and ${count - 1} more`
}
