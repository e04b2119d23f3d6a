import type { Revision } from '../model/id.ts'
import type { Entry } from './changeLog.ts'
import type { Feed, Subscription } from './feed.ts'
import type { Follower, OpenFollower, Recalled } from './follower.ts'
import type { ListTopics } from './listTopics.ts'
import type { Topic } from './topic.ts'

/** Makes the frames of one kind of list. */
export interface ListFrames<Frame, Change> {
  /** Set for events: they are trimmed apart from facts, so that only the database knows how far back they are complete. */
  readonly changesAreKeptApart?: true
  snapshot(revision: Revision): Frame
  delta(from: Revision, revision: Revision, changes: readonly Change[]): Frame | null
  bookmark(revision: Revision): Frame
  expand(frame: Frame): Promise<readonly Frame[]>
  /** Reads the changes after `cursor` from the database. Null when they are not all kept, or when `cursor` is in the future. */
  recall(cursor: Revision): Promise<Recalled<Change> | null>
}

/** Follows a list. A list is never deleted, so that such a subscription has no GONE. */
export function listFollower<Name extends keyof ListTopics, Frame>(
  feed: Feed,
  name: Name,
  frames: ListFrames<Frame, ListTopics[Name]>,
): OpenFollower<Frame, ListTopics[Name]> {
  return (wake) => new ListFollower(feed, feed.openList(name, wake), frames)
}

class ListFollower<Frame, Change> implements Follower<Frame, Change> {
  readonly goneAt = null
  readonly #feed: Feed
  readonly #subscription: Subscription<Topic<Change>>
  readonly #frames: ListFrames<Frame, Change>

  constructor(feed: Feed, subscription: Subscription<Topic<Change>>, frames: ListFrames<Frame, Change>) {
    this.#feed = feed
    this.#subscription = subscription
    this.#frames = frames
  }

  async begin(): Promise<void> {
    // A list always exists, and its topic began at the feed's position.
  }

  get revision(): Revision {
    return this.#feed.position
  }

  get lost(): boolean {
    return this.#subscription.topic.lost
  }

  remembers(cursor: Revision): boolean {
    return this.#frames.changesAreKeptApart !== true && this.since(cursor) !== null
  }

  since(cursor: Revision): readonly Entry<Change>[] | null {
    return this.#subscription.topic.since(cursor)
  }

  recall(cursor: Revision): Promise<Recalled<Change> | null> {
    return this.#frames.recall(cursor)
  }

  snapshot(): Frame {
    return this.#frames.snapshot(this.revision)
  }

  delta(from: Revision, changes: readonly Entry<Change>[]): Frame | null {
    const revision = changes.at(-1)?.revision ?? this.revision
    return this.#frames.delta(
      from,
      revision,
      changes.map(({ change }) => change),
    )
  }

  bookmark(revision: Revision): Frame {
    return this.#frames.bookmark(revision)
  }

  gone(revision: Revision): Frame {
    return this.#frames.bookmark(revision)
  }

  expand(frame: Frame): Promise<readonly Frame[]> {
    return this.#frames.expand(frame)
  }

  close(): void {
    this.#subscription.close()
  }
}
