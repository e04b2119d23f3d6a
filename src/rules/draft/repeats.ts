import { ordinal } from '../../model/counted.ts'
import type { EventText } from '../../model/fact.ts'
import type { Instant, ReplicaId } from '../../model/id.ts'
import { countRepeat, isTold, otherCauses, type Repeat, type Repeats } from '../../model/repeats.ts'
import { type Draft, type DraftEvent, put } from './draft.ts'
import { controller, subjectOf } from './events.ts'

export interface ToldEvents {
  readonly events: EventText[]
  /** The position (1, 2, …) in `events` of the last change of the spec; null where there is none. */
  readonly specEvent: number | null
}

/**
 * Words what happened, in order, and leaves out repeats: of what happens to a replica again and again for the same
 * cause, the 1st, 2nd, 4th, 8th … time is told. A replacement goes on counting where the replica before it ended. The
 * counts start again when a user has ended the replica or reset its backoff, and when it was available for
 * `backoffResetAfterSeconds`, as those of R10 do.
 */
export function tellEvents(draft: Draft, now: Instant): ToldEvents {
  const memory = new Map<ReplicaId, Repeats>()
  const events: EventText[] = []
  let specEvent: number | null = null
  for (const [at, event] of draft.events.entries()) {
    for (const part of event.cause === null ? [event] : partsOf(draft, event, event.cause, memory, now)) {
      events.push(textOf(draft.base.name, part))
    }
    // A user has ended the replica, so whatever comes next is news.
    if (event.actor !== controller) for (const { id } of event.replicas) memory.set(id, {})
    if (draft.specEvent === at + 1) specEvent = events.length
  }
  remember(draft, memory)
  return { events, specEvent }
}

type Part = Pick<DraftEvent, 'kind' | 'actor' | 'why' | 'count' | 'predicate' | 'message' | 'hostId' | 'replicas'> & {
  readonly repeat?: Repeat
}

/** Counts the event for each of its replicas, and parts those for which it is told by how often it has happened. */
function partsOf(
  draft: Draft,
  event: DraftEvent,
  cause: string,
  memory: Map<ReplicaId, Repeats>,
  now: Instant,
): Iterable<Part> {
  const parts = new Map<string, Part>()
  for (const replica of event.replicas) {
    const repeat = countRepeat(memory.get(replica.id) ?? memoryOf(draft, replica.id, now), cause)
    memory.set(replica.id, repeat.repeats)
    if (!isTold(repeat.count)) continue
    const key = `${repeat.cause} ${repeat.count}`
    const part = parts.get(key)
    if (part === undefined) parts.set(key, { ...event, repeat, replicas: [replica] })
    else part.replicas.push(replica)
  }
  return parts.values()
}

/** Finds what is known to have happened to a replica before this commit. */
function memoryOf(draft: Draft, id: ReplicaId, now: Instant): Repeats {
  const before = draft.base.replicas.get(id)
  const { backoffResetAfterSeconds } = draft.columns.settings
  const isWell =
    before !== undefined &&
    before.availableSince !== null &&
    before.availableSince + backoffResetAfterSeconds * 1000 <= now
  return isWell ? {} : ((draft.touched.get(id) ?? before)?.repeats ?? {})
}

/** Writes the counts into the rows of the commit. What has ended leaves them to its replacement. */
function remember(draft: Draft, memory: ReadonlyMap<ReplicaId, Repeats>): void {
  for (const [id, repeats] of memory) {
    const row = draft.touched.get(id)
    if (row !== undefined && row.state !== 'ENDED') put(draft, { ...row, repeats })
  }
  for (const [id, gone] of draft.heirs) {
    const row = draft.alive.get(id)
    const repeats = memory.get(gone)
    if (row !== undefined && repeats !== undefined) put(draft, { ...row, repeats })
  }
}

function textOf(
  service: string,
  { kind, actor, why, predicate, message, replicas, hostId, repeat, count }: Part,
): EventText {
  const [first] = replicas
  const replicaId = replicas.length === 1 && first !== undefined ? first.id : null
  const indexes = replicas.map((replica) => replica.index)
  const sentence =
    predicate === null
      ? message
      : `${subjectOf(service, indexes)} ${indexes.length === 1 ? predicate.one : predicate.many}.`
  if (repeat === undefined) return { kind, actor, why, message: sentence, replicaId, hostId, count }
  const told = `${sentence}${repeatSentence(repeat.cause, repeat.count)}`
  return { kind, actor, why, message: told, replicaId, hostId, count: repeat.count }
}

/** Says how often it has happened; nothing for the first time. */
export function repeatSentence(cause: string, count: number): string {
  if (count === 1) return ''
  return cause === otherCauses
    ? ` This and other new causes have come ${count} times so far.`
    : ` This is the ${ordinal(count)} time.`
}
