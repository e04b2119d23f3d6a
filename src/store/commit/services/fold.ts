import type { ServiceId } from '../../../model/id.ts'
import type { ServiceIntent } from '../../../model/intent.ts'
import type { CommitOutcome } from '../../../model/outcome.ts'
import type { ServiceSnapshot } from '../../../model/service.ts'
import { closeDraft } from '../../../rules/commit/close.ts'
import { decide } from '../../../rules/commit/decide.ts'
import type { ServiceChange } from '../../../rules/draft/change.ts'
import type { Context } from '../../../rules/draft/context.ts'
import { type Draft, isFull, openDraft } from '../../../rules/draft/draft.ts'
import { createDraft } from '../../../rules/service/create.ts'
import type { CreateEntry, IntentEntry, ServiceEntry } from '../entry.ts'
import type { Remember } from '../outcome.ts'
import { type Precondition, preconditionsOf } from './preconditions.ts'

export interface Answered {
  readonly entry: ServiceEntry
  /** An outcome that holds once the commit was accepted. The next commit continues an unfinished one. */
  readonly outcome: CommitOutcome
}

/** What the intents of one service amount to in one commit. */
export interface Decision {
  readonly id: ServiceId
  readonly change: ServiceChange
  readonly answered: readonly Answered[]
  /** Entries for the next commit. */
  readonly deferred: readonly ServiceEntry[]
}

/**
 * Decides intents of one service one after the other, and folds them into one change. Intents that assume different
 * states of one worker go into separate commits: the database rejects a change as a whole, so a late UNREACHABLE would
 * reject a valid return too. An intent for which the cap of rows leaves no room is deferred, and one that the cap cut
 * short continues in the next commit.
 */
export function foldIntents(snapshot: ServiceSnapshot, entries: readonly IntentEntry[], context: Context): Decision {
  const draft = openDraft(snapshot)
  const answered: Answered[] = []
  const claims = new Map<Precondition, ServiceIntent['kind']>()
  let taken = 0
  for (const entry of entries) {
    const { intent } = entry
    if (isFull(draft)) break
    // It expects a specRevision that is known only after this commit.
    if (draft.specChanged && expectsRevision(entry)) break
    const preconditions = preconditionsOf(intent)
    if (preconditions.some((id) => (claims.get(id) ?? intent.kind) !== intent.kind)) break
    for (const id of preconditions) claims.set(id, intent.kind)
    taken++
    draft.room = entry.room ?? draft.room
    const outcome = decideSafely(draft, entry, context)
    if (outcome) answered.push({ entry, outcome })
    if (outcome?.kind === 'unfinished') break
  }
  return { id: snapshot.id, change: closeDraft(draft, context), answered, deferred: entries.slice(taken) }
}

/** Null means that the service can't be created, and that the entry is answered. */
export function foldCreation(entry: CreateEntry, maxReplicas: number | null, context: Context): Decision | null {
  const draft = createDraft(entry.service, maxReplicas, entry.actor, context)
  if ('code' in draft) {
    entry.resolve({ kind: 'refused', refusal: draft })
    return null
  }
  draft.room = entry.room
  const change = closeDraft(draft, context)
  return { id: change.id, change, answered: [{ entry, outcome: { kind: 'done', changed: true } }], deferred: [] }
}

/** A refusal is not remembered (R17). */
export function remembersOf(decision: Decision): Remember[] {
  return decision.answered.flatMap(({ entry, outcome }) =>
    outcome.kind === 'done' && entry.remember ? [entry.remember] : [],
  )
}

function expectsRevision({ intent }: IntentEntry): boolean {
  return 'expectedRevision' in intent && intent.expectedRevision !== null
}

/** An intent that the rules can't take must not fail the others of its batch. */
function decideSafely(draft: Draft, entry: IntentEntry, context: Context): CommitOutcome | null {
  try {
    return decide(draft, entry.intent, context)
  } catch (error) {
    entry.reject(error)
    return null
  }
}
