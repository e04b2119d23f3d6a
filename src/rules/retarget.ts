import type { RolloutState, VersionCause } from '../generated/prisma/enums.ts'
import type { Instant, RolloutId } from '../model/id.ts'
import type { Version } from '../model/service.ts'
import type { Context } from './context.ts'
import { type Draft, deadlineFrom, openRollout } from './draft.ts'
import { resolveLimits } from './limits.ts'
import { addVersion, type VersionBody } from './version.ts'

/** A new target, and whose it is. */
export interface NewTarget {
  readonly body: VersionBody
  readonly cause: VersionCause
  readonly actor: string
  readonly rolloutId: RolloutId
}

/**
 * R5: makes a new version the target and begins the rollout to it, from the version that was completed last. An unfinished rollout is left:
 * SUPERSEDED, or ROLLED_BACK by a rollback. Replicas whose content is equal are kept, ready or not: which those are follows from the contents.
 */
export function retarget(draft: Draft, { body, cause, actor, rolloutId }: NewTarget, ctx: Context): Version {
  leave(draft, cause === 'ROLLBACK' || cause === 'AUTO_ROLLBACK' ? 'ROLLED_BACK' : 'SUPERSEDED', ctx.now)
  const version = addVersion(draft, body, cause, actor, ctx)
  const number = draft.columns.rolloutNumber + 1
  const { desiredReplicas, settings, paused, completedVersion } = draft.columns
  draft.columns = {
    ...draft.columns,
    versionNumber: version.number,
    profileRevisionId: version.profileRevisionId,
    rolloutNumber: number,
  }
  draft.rollout = {
    id: rolloutId,
    number,
    fromVersion: completedVersion,
    toVersion: version.number,
    state: paused ? 'PAUSED' : 'ROLLING',
    automatic: cause === 'AUTO_ROLLBACK',
    hold: null,
    updatedReplicas: 0,
    availableReplicas: 0,
    oldReplicas: 0,
    desiredReplicas,
    ...resolveLimits(desiredReplicas, settings),
    minReadySeconds: settings.minReadySeconds,
    progressDeadlineSeconds: settings.progressDeadlineSeconds,
    bestAvailable: 0,
    leastOutdated: 0,
    startedAt: ctx.now,
    progressedAt: ctx.now,
    deadlineAt: paused ? null : deadlineFrom(ctx.now, settings.progressDeadlineSeconds),
    finishedAt: null,
    startedBy: actor,
  }
  draft.rearmed = true
  return version
}

/** Ends the rollout in progress before it is complete. */
function leave(draft: Draft, state: Extract<RolloutState, 'SUPERSEDED' | 'ROLLED_BACK'>, now: Instant): void {
  const rollout = openRollout(draft)
  if (rollout !== null) draft.left.push({ ...rollout, state, hold: null, deadlineAt: null, finishedAt: now })
}
