import type { Revision } from '../model/id.ts'
import type { Feed } from './feed.ts'
import type { OpenFollower } from './follower.ts'
import type { FrameSink } from './frameSink.ts'
import { Group } from './group.ts'
import { type Attachment, PulledSubscription } from './pulledSubscription.ts'

/**
 * What a subscription's resolver answers: what to follow, from where, and what tells it from others. Iterated by itself it is a subscription
 * alone; `join` shares it.
 */
export class SharedSource<Frame, Change> implements AsyncIterable<Frame> {
  readonly #feed: Feed
  /** What is followed, and how: two of the same make the same frames. */
  readonly identity: string
  readonly #after: Revision | null
  readonly #open: OpenFollower<Frame, Change>

  constructor(feed: Feed, identity: string, after: Revision | null | undefined, open: OpenFollower<Frame, Change>) {
    this.#feed = feed
    this.identity = identity
    this.#after = after ?? null
    this.#open = open
  }

  /** Subscribes in the group of all who have this key. `make` is of the first of them. */
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
