import type { PauseIntent } from '../../model/intent.ts'
import type { Outcome } from '../../model/outcome.ts'
import { type Draft, isDeleting, openRollout } from '../draft/draft.ts'
import { recordEvent } from '../draft/events.ts'
import { conflict, deleting, invalidState, markSpec } from '../draft/specGuards.ts'

/** R7: from now on no version steps, while replacement and scaling go on. The deadline's clock stops. */
export function pause(draft: Draft, { expectedRevision, actor }: PauseIntent): Outcome {
  const { name } = draft.base
  if (isDeleting(draft)) return deleting(draft, 'there is nothing to pause')
  const objection = conflict(draft, expectedRevision)
  if (objection !== null) return objection
  const rollout = openRollout(draft)
  if (rollout === null) return invalidState(`No rollout of service ${name} is under way: there is nothing to pause.`)
  if (draft.columns.paused) return invalidState(`Service ${name} is paused already: resumeRollout lets it go on.`)
  draft.columns = { ...draft.columns, paused: true }
  draft.rollout = { ...rollout, state: 'PAUSED', deadlineAt: null }
  recordEvent(draft, 'ROLLOUT', `${actor} paused rollout ${rollout.number} of ${name}.`, actor)
  markSpec(draft)
  return { kind: 'done', changed: true }
}
