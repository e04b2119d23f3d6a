import type { Revision } from '../model/id.ts'
import type { Entry } from './changeLog.ts'

/**
 * A follower knows what one kind of subscription follows, and makes its frames. All methods but `begin`, `recall` and `expand` answer at once and
 * from memory, so that several answers in a row describe the same instant.
 */
export interface Follower<Frame, Change> {
  /** Must be awaited before anything else is asked. Throws FeedRefusal NOT_FOUND when there is nothing to follow. */
  begin(): Promise<void>
  /** Every change up to it is known here. */
  readonly revision: Revision
  /** True once facts were missed: the group opens another follower and sends its SNAPSHOT. */
  readonly lost: boolean
  /** Not null once what is followed was deleted: then `gone` makes the last frame. */
  readonly goneAt: Revision | null
  /** Whether a subscriber that has `cursor` can go on from memory. If not, `recall` reads what came after it. */
  remembers(cursor: Revision): boolean
  /** The changes after `cursor`; null when memory has not all of them. */
  since(cursor: Revision): readonly Entry<Change>[] | null
  /** The changes after `cursor` from the database; null when they are not all kept, or not yet made, or `cursor` is older than what is followed. */
  recall(cursor: Revision): Promise<Recalled<Change> | null>
  snapshot(): Frame
  /** The net of these changes, the newest of which is the newest of all now; null: nothing that subscribers see. */
  delta(from: Revision, changes: readonly Entry<Change>[]): Frame | null
  /** Makes a frame, once, of what belongs to no revision, such as requests for logs; null when there is nothing. */
  aside?(revision: Revision): Frame | null
  bookmark(revision: Revision): Frame
  gone(revision: Revision): Frame
  /** Reads what the frame shows, and splits a large one into parts. There is no part when nothing is to be shown after all. */
  expand(frame: Frame): Promise<readonly Frame[]>
  close(): void
}

/** Changes up to `head` that were no longer in memory and were read from the database. */
export interface Recalled<Change> {
  readonly head: Revision
  readonly changes: readonly Entry<Change>[]
}

/** Opens a follower, which calls `wake` when there may be something new. */
export type OpenFollower<Frame, Change> = (wake: () => void) => Follower<Frame, Change>

/** Splits a list into parts of at most `size`; an empty list is one empty part. */
export function partsOf<T>(
  list: readonly T[],
  size: number,
): { readonly part: readonly T[]; readonly last: boolean }[] {
  const parts: { part: readonly T[]; last: boolean }[] = []
  for (let from = 0; from === 0 || from < list.length; from += size) {
    parts.push({ part: list.slice(from, from + size), last: from + size >= list.length })
  }
  return parts
}
