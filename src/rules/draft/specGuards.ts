import type { Revision } from '../../model/id.ts'
import type { Outcome } from '../../model/outcome.ts'
import type { Draft } from './draft.ts'

/** R17: CONFLICT if the user decided on another spec than the current one; null if there is no objection. */
export function conflict(draft: Draft, expected: Revision | null): Outcome | null {
  const { name, specRevision } = draft.base
  if (expected === null || expected === specRevision) return null
  const message = `Service ${name} was changed since revision ${expected}: its specRevision is ${specRevision}. Read it again, then decide.`
  return { kind: 'refused', refusal: { code: 'CONFLICT', message, path: ['input', 'expectedRevision'], specRevision } }
}

/** Refuses a change with INVALID_STATE, as most changes are while the service is being deleted. */
export function deleting(draft: Draft, consequence: string): Outcome {
  return invalidState(
    `Service ${draft.base.name} is being deleted: ${consequence}. Create it again when its last replica has ended.`,
  )
}

export function invalidState(message: string): Outcome {
  return { kind: 'refused', refusal: { code: 'INVALID_STATE', message, path: ['input', 'service'] } }
}

/** Marks the event that was recorded last as a user's change of the spec: its fact gives the new specRevision. */
export function markSpec(draft: Draft): void {
  draft.specChanged = true
  draft.specEvent = draft.events.length
}
