import type { RestartIntent } from '../../model/intent.ts'
import type { Outcome } from '../../model/outcome.ts'
import { isActive } from '../../model/replica.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, hasRoom, isDeleting, put, targetOf } from '../draft/draft.ts'
import { recordEvent } from '../draft/events.ts'
import { conflict, deleting, markSpec } from '../draft/specGuards.ts'
import { retarget } from './retarget.ts'

/** R5: makes a new version number with the same content. Its rollout replaces every replica that there is now. */
export function restart(draft: Draft, intent: RestartIntent, ctx: Context): Outcome {
  const { actor, rolloutId } = intent
  if (isDeleting(draft)) return deleting(draft, 'it cannot be restarted')
  const objection = conflict(draft, intent.expectedRevision)
  if (objection !== null) return objection
  const { number } = retarget(draft, { body: targetOf(draft), origin: 'RESTART', actor, rolloutId }, ctx)
  draft.columns = { ...draft.columns, restartNumber: number }
  recordEvent(
    draft,
    'ROLLOUT',
    `${actor} restarted ${draft.base.name} as version ${number}: all its replicas are replaced.`,
    actor,
  )
  markSpec(draft)
  return { kind: 'done', changed: true }
}

/**
 * Marks the replicas of a restart as leaving, within the row cap. The next commits mark the rest before they do
 * anything else.
 */
export function markRestarted(draft: Draft): void {
  const { restartNumber } = draft.columns
  if (restartNumber === null) return
  for (const row of draft.alive.rows) {
    if (row.leaving !== null || row.versionNumber >= restartNumber || !isActive(row)) continue
    if (!hasRoom(draft, row.id)) {
      draft.capped = true
      return
    }
    put(draft, { ...row, leaving: 'RESTART' })
  }
  draft.columns = { ...draft.columns, restartNumber: null }
}
