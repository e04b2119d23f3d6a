import type { Revision } from '../model/id.ts'
import type { Feed } from './feed.ts'
import type { OpenFollower } from './follower.ts'
import type { FrameSink, SharedFrame } from './frameSink.ts'
import { Group } from './group.ts'
import { type Attachment, PulledSubscription } from './pulledSubscription.ts'

/** What a subscriber asks for, whatever it follows. */
export interface FrameWishes {
  /** The last revision that it has; null: none, so that it gets a SNAPSHOT. */
  readonly after?: Revision | null | undefined
  /** Whether it wants a BOOKMARK after a silence. */
  readonly bookmarks?: boolean | null | undefined
}

/**
 * A subscription's resolver answers with this. It says what to follow, from which revision, and what tells this subscription from others. Iterated
 * directly it is a subscription of its own; `join` shares the work with others that are alike.
 */
export class SharedSource<Frame, Change> implements AsyncIterable<Frame> {
  readonly #feed: Feed
  /** It names what is followed and how: two sources of the same identity make the same frames. */
  readonly identity: string
  readonly #after: Revision | null
  readonly #bookmarks: boolean
  readonly #open: OpenFollower<Frame, Change>

  constructor(feed: Feed, identity: string, wishes: FrameWishes, open: OpenFollower<Frame, Change>) {
    this.#feed = feed
    this.#after = wishes.after ?? null
    this.#bookmarks = wishes.bookmarks ?? false
    this.identity = this.#bookmarks ? `${identity}, with bookmarks` : identity
    this.#open = open
  }

  /** Joins the group of all subscribers with this key. The group makes its frames with the `make` of the first of them. */
  join<Made extends SharedFrame>(
    key: string,
    make: (frame: Frame) => Promise<Made>,
    sink: FrameSink<Made>,
  ): Attachment {
    const { groups } = this.#feed
    const known = groups.get(key) as unknown as Group<Frame, Change, Made> | undefined
    if (known !== undefined) return known.join(sink, this.#after)
    const group = this.#newGroup(make, () => void groups.delete(key))
    groups.set(key, group as unknown as Group<never, never, never>)
    return group.join(sink, this.#after)
  }

  [Symbol.asyncIterator](): AsyncGenerator<Frame, undefined, undefined> {
    const make = async (frame: Frame) => ({ frame, size: 0, keepBytes: () => undefined })
    return new PulledSubscription<Frame>((sink) => {
      const frames: FrameSink<{ readonly frame: Frame } & SharedFrame> = {
        get ready() {
          return sink.ready
        },
        whenReady: (callback) => sink.whenReady(callback),
        send: ({ frame }) => sink.send(frame),
        end: (error) => sink.end(error),
      }
      return this.#newGroup(make, () => undefined).join(frames, this.#after)
    })
  }

  #newGroup<Made extends SharedFrame>(make: (frame: Frame) => Promise<Made>, onEnd: () => void) {
    return new Group({ feed: this.#feed, bookmarks: this.#bookmarks, open: this.#open, make, onEnd })
  }
}
