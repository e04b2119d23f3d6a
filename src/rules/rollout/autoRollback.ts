import type { VersionOrigin } from '../../generated/prisma/enums.ts'
import type { RolloutId } from '../../model/id.ts'
import type { Rollout } from '../../model/service.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, targetOf, versionOf } from '../draft/draft.ts'
import { controller, recordEvent } from '../draft/events.ts'
import { isTargetLooping } from '../replica/backoff.ts'
import { hasFailing } from './failing.ts'
import { retarget } from './retarget.ts'

const rollbacks: ReadonlySet<VersionOrigin> = new Set<VersionOrigin>(['ROLLBACK', 'AUTO_ROLLBACK'])

/**
 * R6: if the setting is on, rolls a target that has failed back to the version that lasted its watch last, as long as
 * the rollout is unfinished or watched. It happens once, because the result is itself a rollback and those are never
 * rolled back, and not while the service is paused. Returns whether it happened.
 */
export function autoRollback(draft: Draft, ctx: Context): boolean {
  const { settings, paused, provenVersion } = draft.columns
  const { rollout } = draft
  const isArmed = rollout.finishedAt === null || rollout.watchUntil !== null
  if (!settings.autoRollback || paused || !isArmed || provenVersion === null) return false
  const target = targetOf(draft)
  const to = versionOf(draft, provenVersion)
  if (rollbacks.has(target.origin) || to.contentNumber === target.contentNumber) return false
  const why = failureOf(draft, rollout, ctx)
  if (why === null) return false
  const rolloutId = ctx.newId() as RolloutId
  const { number } = retarget(draft, { body: to, origin: 'AUTO_ROLLBACK', actor: controller, rolloutId }, ctx)
  recordEvent(
    draft,
    'ROLLOUT',
    `${draft.base.name} is rolled back to version ${to.number}, as version ${number}: version ${target.number} ${why}.`,
  )
  return true
}

/**
 * Says what is wrong with the target; null when nothing is. A crash loop always counts. A rollout without progress
 * counts only if a replica of the target had a place for its deadline, because a busy cluster is not a bad release.
 */
function failureOf(draft: Draft, rollout: Rollout, ctx: Context): string | null {
  const { number, state, deadlineAt, progressDeadlineSeconds, finishedAt } = rollout
  if (isTargetLooping(draft))
    return `is in CRASH_LOOP${finishedAt === null ? '' : `, although rollout ${number} was complete`}`
  const isOver = state === 'STALLED' && deadlineAt !== null && deadlineAt <= ctx.now
  return isOver && hasFailing(draft, true) ? `made no progress for ${progressDeadlineSeconds} s` : null
}
