import type { FrameSink, SharedFrame } from '../../feed/frameSink.ts'
import { type Attachment, PulledSubscription } from '../../feed/pulledSubscription.ts'
import { type FollowParts, LogFollow, type LogFrame, type LogWish } from './logFollow.ts'

/** At most so many readers follow logs on one server. Each has one question under way, and one frame of 256 KiB of text. */
export const mostLogReaders = 256

/** Those who follow logs on this server. */
export class LogReaders {
  readonly #parts: FollowParts
  #count = 0

  constructor(parts: FollowParts) {
    this.#parts = parts
  }

  /** How many there are. */
  get count(): number {
    return this.#count
  }

  /** Begins to follow, for one reader; its end is told by the sink. */
  open(
    wish: LogWish,
    sink: Pick<FrameSink<LogFrame>, 'ready' | 'whenReady' | 'end'>,
    send: (frame: LogFrame) => Promise<void>,
  ): Attachment {
    this.#count += 1
    let isOpen = true
    const leave = () => {
      if (isOpen) this.#count -= 1
      isOpen = false
    }
    const end = (error: unknown) => {
      leave()
      sink.end(error)
    }
    const counted = {
      get ready() {
        return sink.ready
      },
      whenReady: (callback: () => void) => sink.whenReady(callback),
      end,
    }
    const follow = new LogFollow(this.#parts, wish, counted, send)
    const close = () => {
      leave()
      follow.close()
    }
    return { pump: () => follow.pump(), close }
  }
}

/** What logAppended follows. Unlike other subscriptions it is never shared, because every reader has its own place. */
export class LogSource implements AsyncIterable<LogFrame> {
  readonly identity = 'log'
  readonly #readers: LogReaders
  readonly #wish: LogWish

  constructor(readers: LogReaders, wish: LogWish) {
    this.#readers = readers
    this.#wish = wish
  }

  join<Made extends SharedFrame>(
    _key: string,
    make: (frame: LogFrame) => Promise<Made>,
    sink: FrameSink<Made>,
  ): Attachment {
    return this.#readers.open(this.#wish, sink, async (frame) => sink.send(await make(frame)))
  }

  [Symbol.asyncIterator](): AsyncGenerator<LogFrame, undefined, undefined> {
    return new PulledSubscription<LogFrame>((sink) =>
      this.#readers.open(this.#wish, sink, async (frame) => sink.send(frame)),
    )
  }
}
