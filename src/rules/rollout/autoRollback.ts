import type { VersionCause } from '../../generated/prisma/enums.ts'
import type { RolloutId } from '../../model/id.ts'
import { isOfNature } from '../blocker/blockerTable.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, openRollout, targetOf, versionOf } from '../draft/draft.ts'
import { controller, recordEvent } from '../draft/events.ts'
import { isTargetLooping } from '../replica/backoff.ts'
import { retarget } from './retarget.ts'
import { waitsOfTarget } from './rolloutBlocker.ts'

const rollbacks: ReadonlySet<VersionCause> = new Set<VersionCause>(['ROLLBACK', 'AUTO_ROLLBACK'])

/**
 * R6: if the setting is on, rolls a target in CRASH_LOOP or a STALLED rollout back to the version that was completed
 * last. It happens once, because the result is itself a rollback and those are never rolled back, and not while the
 * service is paused. Returns whether it happened.
 */
export function autoRollback(draft: Draft, ctx: Context): boolean {
  const { settings, paused, completedVersion } = draft.columns
  const rollout = openRollout(draft)
  if (!settings.autoRollback || paused || rollout === null || completedVersion === null) return false
  const target = targetOf(draft)
  const to = versionOf(draft, completedVersion)
  if (rollbacks.has(target.cause) || to.contentNumber === target.contentNumber) return false
  const loops = isTargetLooping(draft)
  if (!loops && rollout.state !== 'STALLED') return false
  // A busy cluster is not a bad release.
  for (const reason of waitsOfTarget(draft).keys()) if (isOfNature(reason, 'noPlace')) return false
  const rolloutId = ctx.newId() as RolloutId
  const { number } = retarget(draft, { body: to, cause: 'AUTO_ROLLBACK', actor: controller, rolloutId }, ctx)
  const why = loops ? 'is in CRASH_LOOP' : `made no progress for ${rollout.progressDeadlineSeconds} s`
  recordEvent(
    draft,
    'ROLLOUT',
    `${draft.base.name} is rolled back to version ${to.number}, as version ${number}: version ${target.number} ${why}.`,
  )
  return true
}
