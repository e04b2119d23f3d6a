import type { BlockReason } from '../../generated/prisma/enums.ts'
import type { Blocker } from '../../model/blocker.ts'
import type { Instant } from '../../model/id.ts'
import type { Rollout } from '../../model/service.ts'
import { blockerTable, bySeverity, type RolloutReason, remedyAndObjects, waitMessage } from '../blocker/blockerTable.ts'
import { type Draft, isDeleting, openRollout } from '../draft/draft.ts'
import { collectWaits } from './waits.ts'

/** Says why the service is not all it should be: one blocker per reason, with a count, the most severe first. */
export function blockersOf(draft: Draft, now: Instant): Blocker[] {
  const before = draft.base.columns.blockers
  const blockers = isDeleting(draft) ? new Map<BlockReason, Blocker>() : replicaBlockersOf(draft, before, now)
  const rollout = openRollout(draft)
  if (rollout !== null) {
    const hold = (reason: RolloutReason) => blockers.set(reason, rolloutWideBlocker(reason, rollout, before, now))
    if (rollout.state === 'STALLED') hold('PROGRESS_DEADLINE')
    if (draft.columns.paused) hold('ROLLOUT_PAUSED')
  }
  if (blockers.size === 0) return []
  return bySeverity.flatMap((reason) => blockers.get(reason) ?? [])
}

/** Collects what the active replicas wait for. A reason that the service had `before` keeps its `since`. */
function replicaBlockersOf(draft: Draft, before: readonly Blocker[], now: Instant): Map<BlockReason, Blocker> {
  const blockers = new Map<BlockReason, Blocker>()
  for (const [reason, { first, count, since, until }] of collectWaits(draft, () => true)) {
    const waiting = { draft, first, count }
    const message = waitMessage(reason, waiting)
    const replica = count === 1 ? first.id : null
    const begun = sinceOf(reason, before) ?? since ?? now
    const more = remedyAndObjects(reason, waiting)
    blockers.set(reason, { reason, message, ...more, count, since: begun, until, replica })
  }
  return blockers
}

function rolloutWideBlocker(
  reason: RolloutReason,
  rollout: Rollout,
  before: readonly Blocker[],
  now: Instant,
): Blocker {
  const { message, remedy } = blockerTable[reason]
  const words = { message: message(rollout), remedy: remedy(rollout) }
  return { reason, ...words, count: 1, since: sinceOf(reason, before) ?? now, until: null, replica: null }
}

function sinceOf(reason: BlockReason, before: readonly Blocker[]): Instant | undefined {
  return before.find((blocker) => blocker.reason === reason)?.since
}
