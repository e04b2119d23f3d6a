import type { RolloutState, VersionOrigin } from '../../generated/prisma/enums.ts'
import type { Instant, RolloutId } from '../../model/id.ts'
import type { Version } from '../../model/service.ts'
import type { Context } from '../draft/context.ts'
import type { Draft } from '../draft/draft.ts'
import { addVersion, type VersionBody } from '../version/version.ts'
import { newRollout } from './newRollout.ts'
import { leaveWatch } from './watch.ts'

/** A new target, and who wants it. */
export interface NewTarget {
  readonly body: VersionBody
  readonly origin: VersionOrigin
  readonly actor: string
  readonly rolloutId: RolloutId
}

/**
 * R5: makes a new version the target and begins the rollout to it, from the version that was completed last. An
 * unfinished rollout is left: it is SUPERSEDED, or ROLLED_BACK if a rollback replaces it. A watch ends (R6). Replicas of equal content are
 * kept, ready or not; the contents say which ones those are.
 */
export function retarget(draft: Draft, { body, origin, actor, rolloutId }: NewTarget, ctx: Context): Version {
  const version = addVersion(draft, body, origin, actor, ctx)
  leaveWatch(draft, version, ctx.now)
  leave(draft, origin === 'ROLLBACK' || origin === 'AUTO_ROLLBACK' ? 'ROLLED_BACK' : 'SUPERSEDED', ctx.now)
  const number = draft.columns.rolloutNumber + 1
  const { desiredReplicas, settings, paused, completedVersion } = draft.columns
  draft.columns = {
    ...draft.columns,
    versionNumber: version.number,
    profileRevisionId: version.profileRevisionId,
    rolloutNumber: number,
  }
  const versions = { fromVersion: completedVersion, toVersion: version.number }
  const automatic = origin === 'AUTO_ROLLBACK'
  draft.rollout = newRollout(
    { id: rolloutId, number, ...versions, automatic, desiredReplicas, settings, paused, startedBy: actor },
    ctx.now,
  )
  draft.rearmed = true
  return version
}

/** Ends the rollout in progress before it is complete. One that is over is written if its watch has just ended. */
function leave(draft: Draft, state: Extract<RolloutState, 'SUPERSEDED' | 'ROLLED_BACK'>, now: Instant): void {
  const { rollout } = draft
  if (rollout.finishedAt === null)
    draft.left.push({ ...rollout, state, blocker: null, deadlineAt: null, finishedAt: now })
  else if (rollout !== draft.base.rollout) draft.left.push(rollout)
}
