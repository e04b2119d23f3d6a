import type { PauseIntent } from '../../model/intent.ts'
import type { Outcome } from '../../model/outcome.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, deadlineFrom, isDeleting, openRollout } from '../draft/draft.ts'
import { recordEvent } from '../draft/events.ts'
import { conflict, deleting, invalidState, markSpec } from '../draft/specGuards.ts'

/** R7: lets the rollout go on and arms its full deadline. */
export function resume(draft: Draft, { expectedRevision, actor }: PauseIntent, ctx: Context): Outcome {
  const { name } = draft.base
  if (isDeleting(draft)) return deleting(draft, 'there is nothing to resume')
  const objection = conflict(draft, expectedRevision)
  if (objection !== null) return objection
  const rollout = openRollout(draft)
  if (!draft.columns.paused || rollout === null)
    return invalidState(`Service ${name} is not paused: there is nothing to resume.`)
  draft.columns = { ...draft.columns, paused: false }
  draft.rollout = { ...rollout, state: 'ROLLING', deadlineAt: deadlineFrom(ctx.now, rollout.progressDeadlineSeconds) }
  recordEvent(draft, 'ROLLOUT', `${actor} resumed rollout ${rollout.number} of ${name}.`, actor)
  markSpec(draft)
  return { kind: 'done', changed: true }
}
