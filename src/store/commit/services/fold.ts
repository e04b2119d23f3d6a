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
  /** Holds once the commit was accepted. Of an unfinished one the next commit does the rest. */
  readonly outcome: CommitOutcome
}

/** What the intents of one service come to in one commit. */
export interface Decision {
  readonly id: ServiceId
  readonly change: ServiceChange
  readonly answered: readonly Answered[]
  /** For the next commit. */
  readonly deferred: readonly ServiceEntry[]
}

/**
 * Decides intents of one service one after the other and folds them into one change. Those that take one worker for different things are parted: the
 * database refuses such a change as a whole, and what was right of it would go with what was wrong (a word of silence that came late would take
 * the return with it). What the cap of rows leaves no room for is deferred too, and an intent that it cut short goes on in the next commit.
 */
export function foldIntents(snapshot: ServiceSnapshot, entries: readonly IntentEntry[], context: Context): Decision {
  const draft = openDraft(snapshot)
  const answered: Answered[] = []
  const claims = new Map<Precondition, ServiceIntent['kind']>()
  let taken = 0
  for (const entry of entries) {
    const { intent } = entry
    if (isFull(draft)) break
    // What it expects is compared with a specRevision that is known only after this commit.
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

/** Null: the service can't be created, and the entry is answered. */
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

/** One intent that the rules can't take must not fail the others of its batch. */
function decideSafely(draft: Draft, entry: IntentEntry, context: Context): CommitOutcome | null {
  try {
    return decide(draft, entry.intent, context)
  } catch (error) {
    entry.reject(error)
    return null
  }
}
