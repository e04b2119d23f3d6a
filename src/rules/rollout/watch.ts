import { counted } from '../../model/counted.ts'
import type { Instant } from '../../model/id.ts'
import type { Version } from '../../model/service.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, targetOf, versionOf, watchFrom } from '../draft/draft.ts'
import { recordEvent } from '../draft/events.ts'

// R6: a completed rollout is watched for `watchSeconds` if it may be rolled back automatically. Until its watch is over
// nothing is decided of it: `previousVersion` and `provenVersion` are still those of the time before it.

/** The rollout is complete: it is watched from now on, or it counts as one that has lasted its watch. */
export function beginWatch(draft: Draft, now: Instant): void {
  const { settings, versionNumber } = draft.columns
  const isWatched = settings.autoRollback && settings.watchSeconds > 0
  draft.rollout = { ...draft.rollout, watchUntil: isWatched ? watchFrom(now, settings) : null }
  if (isWatched) draft.columns = { ...draft.columns, completedVersion: versionNumber }
  else closeWatch(draft, true)
}

/** Ends the watch that has lasted until now. */
export function passWatch(draft: Draft, ctx: Context): void {
  const { number, toVersion, watchUntil } = draft.rollout
  if (watchUntil === null || watchUntil > ctx.now) return
  closeWatch(draft, true)
  const { watchSeconds } = draft.columns.settings
  recordEvent(
    draft,
    'ROLLOUT',
    `Rollout ${number} of ${draft.base.name} has lasted its watch: no replica of version ${toVersion} failed for ${counted(watchSeconds, 'second')}.`,
  )
}

/** A user changes the service otherwise, which ends the watch. It was lasted if nothing has failed in it. */
export function cutWatch(draft: Draft): void {
  if (draft.rollout.watchUntil !== null) closeWatch(draft, !hasTrouble(draft))
}

/**
 * A new target ends the watch of the rollout before it. The former target has not proven itself if something has failed
 * in the watch, if a rollback leaves it, or if the new target has the same content and goes on to be watched.
 */
export function leaveWatch(draft: Draft, { origin, contentNumber }: Version, now: Instant): void {
  const { rollout, columns } = draft
  if (rollout.watchUntil === null) return
  if (origin === 'AUTO_ROLLBACK') {
    // It is as if the target had never been complete.
    draft.columns = { ...columns, completedVersion: rollout.fromVersion }
    draft.rollout = { ...rollout, state: 'ROLLED_BACK', watchUntil: null, finishedAt: now }
    return
  }
  const isOther = contentNumber !== targetOf(draft).contentNumber
  closeWatch(draft, isOther && origin !== 'ROLLBACK' && !hasTrouble(draft))
}

/** The last completed version with other content than the completed target; null when there is none. */
export function previousVersionOf(draft: Draft): number | null {
  return draft.rollout.watchUntil === null ? draft.columns.previousVersion : previousBehind(draft)
}

function previousBehind(draft: Draft): number | null {
  const { fromVersion, toVersion } = draft.rollout
  const isOther =
    fromVersion !== null && versionOf(draft, fromVersion).contentNumber !== versionOf(draft, toVersion).contentNumber
  return isOther ? fromVersion : draft.columns.previousVersion
}

function closeWatch(draft: Draft, lasted: boolean): void {
  const { toVersion } = draft.rollout
  draft.columns = {
    ...draft.columns,
    completedVersion: toVersion,
    previousVersion: previousBehind(draft),
    provenVersion: lasted ? toVersion : draft.columns.provenVersion,
  }
  draft.rollout = { ...draft.rollout, watchUntil: null }
}

function hasTrouble({ rollout: { troubledAt, finishedAt } }: Draft): boolean {
  return troubledAt !== null && finishedAt !== null && troubledAt >= finishedAt
}
