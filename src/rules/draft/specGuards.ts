import type { Revision } from '../../model/id.ts'
import type { Outcome } from '../../model/outcome.ts'
import type { Draft } from './draft.ts'

/** R17: CONFLICT when the user decided on another spec than the current one; null when there is no objection. */
export function conflict(draft: Draft, expected: Revision | null): Outcome | null {
  const { name, specRevision } = draft.base
  if (expected === null || expected === specRevision) return null
  const message = `Service ${name} was changed since revision ${expected}: its specRevision is ${specRevision}. Read it again and decide anew.`
  return { kind: 'refused', refusal: { code: 'CONFLICT', message, path: ['input', 'expectedRevision'], specRevision } }
}

/** While DELETING most changes are INVALID_STATE. */
export function deleting(draft: Draft, consequence: string): Outcome {
  return invalidState(
    `Service ${draft.base.name} is being deleted: ${consequence}. Create it anew when its last replica has ended.`,
  )
}

export function invalidState(message: string): Outcome {
  return { kind: 'refused', refusal: { code: 'INVALID_STATE', message, path: ['input', 'service'] } }
}

/** Marks the note that was said last as a change of the spec by a user: its fact gives the new specRevision. */
export function markSpec(draft: Draft): void {
  draft.specChanged = true
  draft.specEvent = draft.events.length
}
