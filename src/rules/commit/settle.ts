import type { EndReason } from '../../generated/prisma/enums.ts'
import type { Replica } from '../../model/service.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, isCreatedHere, isDeleting, roomIn, targetOf, versionOf } from '../draft/draft.ts'
import { recordEvent, recordSharedEvent } from '../draft/events.ts'
import { recordStopped, recordStopping } from '../draft/stopEvents.ts'
import { foresee } from '../placement/foresight.ts'
import { activeOf, type Census, takeCensus } from '../replica/census.ts'
import { forgetOtherContent, passDue } from '../replica/due.ts'
import { freeIndexes, start } from '../replica/start.ts'
import { stop } from '../replica/stop.ts'
import { autoRollback } from '../rollout/autoRollback.ts'
import { resolveLimits } from '../rollout/limits.ts'
import { markRestarted } from '../rollout/restart.ts'
import { rollingStep } from '../rollout/rolling.ts'
import { stepRollout } from '../rollout/rollout.ts'
import { passWatch } from '../rollout/watch.ts'

/**
 * Lets the rules follow from what the intents changed, once per commit: what is due, starts and stops, the rollout, and
 * the end of the service.
 */
export function settle(draft: Draft, ctx: Context): Census {
  passWatch(draft, ctx)
  passDue(draft, ctx)
  if (isDeleting(draft)) return settleDeletion(draft, ctx)
  markRestarted(draft)
  const census = settleTarget(draft, ctx)
  return autoRollback(draft, ctx) ? settleTarget(draft, ctx) : census
}

function settleDeletion(draft: Draft, ctx: Context): Census {
  const census = stepped(draft, ctx)
  if (draft.alive.size === 0 && draft.columns.deletedAt === null) {
    draft.columns = { ...draft.columns, deletedAt: ctx.now }
    recordEvent(
      draft,
      'SERVICE_DELETED',
      `Service ${draft.base.name} is gone: none of its replicas is left, and its name is free.`,
    )
  }
  return census
}

function settleTarget(draft: Draft, ctx: Context): Census {
  const census = stepped(draft, ctx)
  foresee(draft, ctx)
  forgetOtherContent(draft, census)
  stepRollout(draft, census, ctx)
  return census
}

function stepped(draft: Draft, ctx: Context): Census {
  const { contentNumber } = targetOf(draft)
  const census = takeCensus(draft.alive.rows, contentNumber)
  if (isSteady(draft, census)) return census
  stepReplicas(draft, ctx)
  return takeCensus(draft.alive.rows, contentNumber)
}

/** As many replicas are active as desired and none is outdated, so there is nothing to step. */
function isSteady(draft: Draft, { updated, outdated }: Census): boolean {
  return !isDeleting(draft) && activeOf(outdated) === 0 && activeOf(updated) === draft.columns.desiredReplicas
}

/** Steps R2, R3, R4, R7 and the ceiling, within the row cap. */
function stepReplicas(draft: Draft, ctx: Context): void {
  const { desiredReplicas, paused } = draft.columns
  const desired = isDeleting(draft) ? 0 : desiredReplicas
  const { starts, stops, capped } = rollingStep({
    desired,
    ...resolveLimits(desired, draft.columns.settings),
    target: targetOf(draft),
    paused,
    grownFrom: draft.grownFrom,
    cap: roomIn(draft),
    replicas: draft.alive.rows,
  })
  draft.capped ||= capped
  for (const { id, reason } of stops) {
    const row = draft.alive.get(id)
    if (row === undefined) continue
    const why = stopReason(draft, row, reason)
    stop(draft, row, why, ctx.now)
    if (isCreatedHere(draft, row.id)) continue
    if (row.hostId === null) recordStopped(draft, row, why)
    else recordStopping(draft, row, why)
  }
  if (starts.length === 0) return
  const indexes = freeIndexes(draft)
  for (const { versionNumber, twinOf } of starts) {
    const index = indexes.next().value
    const row = start(draft, { index, version: versionOf(draft, versionNumber), twinOf, holdsQuota: false }, ctx)
    recordSharedEvent(
      draft,
      row,
      null,
      `is created (version ${versionNumber})`,
      `are created (version ${versionNumber})`,
    )
  }
}

function stopReason(draft: Draft, row: Replica, why: 'scale' | 'rollout'): EndReason {
  if (isDeleting(draft)) return 'SERVICE_DELETED'
  if (why === 'scale') return 'SCALED_DOWN'
  if (row.leaving === 'DRAIN') return 'DRAINED'
  if (row.leaving === 'REQUEUE') return 'REQUEUED'
  return row.leaving === 'MOVED' ? 'MOVED' : 'REPLACED_BY_ROLLOUT'
}
