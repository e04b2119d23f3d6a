import type { Revision } from '../model/id.ts'
import type { Entry } from './changeLog.ts'

/**
 * What a kind of subscription follows, and the frames it makes of it. All but `begin`, `recall` and `expand` answers at once, from memory, so
 * that several answers in a row are of one instant.
 */
export interface Follower<Frame, Change> {
  /** To be awaited before anything else. Throws FeedRefusal NOT_FOUND when there is nothing to follow. */
  begin(): Promise<void>
  /** Every change up to it is known here. */
  readonly revision: Revision
  /** Facts were missed: open another follower, whose SNAPSHOT starts anew. */
  readonly lost: boolean
  /** Not null: it is gone, and `gone` is the last frame. */
  readonly goneAt: Revision | null
  /** Whether a subscriber that has `cursor` can go on from memory; otherwise what came after it is recalled. */
  remembers(cursor: Revision): boolean
  /** The changes after `cursor`; null when memory has not all of them. */
  since(cursor: Revision): readonly Entry<Change>[] | null
  /** The changes after `cursor` from the database; null when they are not all kept, or not yet made, or `cursor` is older than what is followed. */
  recall(cursor: Revision): Promise<Recalled<Change> | null>
  snapshot(): Frame
  /** The net of these changes, the newest of which is the newest of all now; null: nothing that subscribers see. */
  delta(from: Revision, changes: readonly Entry<Change>[]): Frame | null
  /** What is told beside the changes and belongs to no revision, once; null when there is nothing. */
  aside?(revision: Revision): Frame | null
  bookmark(revision: Revision): Frame
  gone(revision: Revision): Frame
  /** The frame as it is sent: in parts, where it is large; none, where it has nothing to tell after all. */
  expand(frame: Frame): Promise<readonly Frame[]>
  close(): void
}

/** Changes that memory had no more, up to `head`. */
export interface Recalled<Change> {
  readonly head: Revision
  readonly changes: readonly Entry<Change>[]
}

/** How a follower is opened; `wake` is called when there may be something new. */
export type OpenFollower<Frame, Change> = (wake: () => void) => Follower<Frame, Change>

/** A list in parts of at most `size`, at least one; whether each is the last. */
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
