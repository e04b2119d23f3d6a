import type { Revision } from '../model/id.ts'
import type { Feed } from './feed.ts'
import type { OpenFollower } from './follower.ts'
import type { FrameSink } from './frameSink.ts'
import { Group } from './group.ts'
import { type Attachment, PulledSubscription } from './pulledSubscription.ts'

/**
 * A subscription's resolver answers with this. It says what to follow, from which revision, and what tells this subscription from others. Iterated
 * directly it is a subscription of its own; `join` shares the work with others that are alike.
 */
export class SharedSource<Frame, Change> implements AsyncIterable<Frame> {
  readonly #feed: Feed
  /** It names what is followed and how: two sources of the same identity make the same frames. */
  readonly identity: string
  readonly #after: Revision | null
  readonly #open: OpenFollower<Frame, Change>

  constructor(feed: Feed, identity: string, after: Revision | null | undefined, open: OpenFollower<Frame, Change>) {
    this.#feed = feed
    this.identity = identity
    this.#after = after ?? null
    this.#open = open
  }

  /** Joins the group of all subscribers with this key. The group makes its frames with the `make` of the first of them. */
  join<Made>(key: string, make: (frame: Frame) => Promise<Made>, sink: FrameSink<Made>): Attachment {
    const { groups } = this.#feed
    const group = (groups.get(key) as unknown as Group<Frame, Change, Made> | undefined) ?? this.#newGroup(key, make)
    return group.join(sink, this.#after)
  }

  [Symbol.asyncIterator](): AsyncGenerator<Frame, undefined, undefined> {
    return new PulledSubscription<Frame>((sink) => {
      const feed = this.#feed
      return new Group({ feed, open: this.#open, make: async (frame: Frame) => frame, onEnd: () => undefined }).join(
        sink,
        this.#after,
      )
    })
  }

  #newGroup<Made>(key: string, make: (frame: Frame) => Promise<Made>): Group<Frame, Change, Made> {
    const { groups } = this.#feed
    const group = new Group({ feed: this.#feed, open: this.#open, make, onEnd: () => void groups.delete(key) })
    groups.set(key, group as unknown as Group<never, never, never>)
    return group
  }
}
