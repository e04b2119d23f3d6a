import type { Revision } from '../../model/id.ts'
import type { Database } from '../../store/database/database.ts'
import { readEventReach } from '../../store/read/readListFacts.ts'
import { partsOf } from '../follower.ts'
import type { ListFrames } from '../listFollower.ts'

type Kind = 'SNAPSHOT' | 'DELTA' | 'BOOKMARK'

/** A frame has at most so many events. */
export const eventsPerFrame = 500

/** A frame about events, which never change. */
export interface EventFrame<Event> {
  readonly kind: Kind
  readonly from: Revision
  readonly revision: Revision
  readonly events: () => Promise<readonly Event[]>
}

/** Reads the events that a view shows, in (after, upTo]. */
export interface EventView<Event> {
  /** The newest, oldest of them first. */
  readonly newest: (upTo: Revision, most: number) => Promise<readonly Event[]>
  readonly all: (after: Revision, upTo: Revision) => Promise<readonly Event[]>
  readonly revisions: (after: Revision, upTo: Revision) => Promise<readonly Revision[]>
}

/**
 * A SNAPSHOT of the newest events in the view, then every event in it, in order. Many of them are several frames, each with a revision of its
 * own and all events up to it: frames of events have no parts.
 */
export function eventFrames<Event>(database: Database, view: EventView<Event>): ListFrames<EventFrame<Event>, null> {
  const none = async () => []
  return {
    changesAreKeptApart: true,
    snapshot: (revision) => ({
      kind: 'SNAPSHOT',
      from: 0n,
      revision,
      events: () => view.newest(revision, eventsPerFrame),
    }),
    delta: (from, revision) => ({ kind: 'DELTA', from, revision, events: none }),
    bookmark: (revision) => ({ kind: 'BOOKMARK', from: revision, revision, events: none }),
    expand: async (whole) => {
      const { kind, revision } = whole
      let { from } = whole
      if (kind !== 'DELTA') return [whole]
      // There are never more events than revisions.
      if (revision - from <= BigInt(eventsPerFrame)) {
        const events = await view.all(from, revision)
        return events.length === 0 ? [] : [{ ...whole, events: async () => events }]
      }
      const revisions = await view.revisions(from, revision)
      if (revisions.length === 0) return []
      return partsOf(revisions, eventsPerFrame).map(({ part, last }) => {
        const interval = { from, revision: last ? revision : (part.at(-1) ?? revision) }
        from = interval.revision
        return {
          kind,
          ...interval,
          events: async () => {
            const events = await view.all(interval.from, interval.revision)
            if (events.length === part.length) return events
            throw new Error(
              `Events in (${interval.from}, ${interval.revision}] were trimmed before a slow reader came to them.`,
            )
          },
        }
      })
    },
    // Events are read by their revisions: all there is to know is whether facts and events go back so far.
    recall: async (cursor) => {
      const { floor, head } = await readEventReach(database)
      if (cursor < floor || cursor > head) return null
      return { head, changes: cursor < head ? [{ revision: head, change: null }] : [] }
    },
  }
}
