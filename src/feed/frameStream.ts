import { untilDatabaseAnswers } from './untilDatabaseAnswers.ts'

/** What a source has for its subscriber now. `last`: the subscription ends after this frame. */
export interface Pulled<Frame> {
  readonly frame: Frame
  readonly last: boolean
}

/** Where a subscriber's frames come from: it keeps the subscriber's cursor. */
export interface FrameSource<Frame> {
  /** The next frame, over everything since the last one; null when there is nothing to tell. Called by one caller at a time. */
  pull(): Promise<Pulled<Frame> | null>
  /** Lets go of the topic. Called once, however the subscription ends. */
  close(): void
}

/**
 * One subscription. The consumer pulls: while it is slow nothing is made for it, so nothing piles up; what happened meanwhile is in the
 * topic's log and becomes one frame. `return` ends a waiting `next` at once, so that a dead socket leaves no listener. While the database
 * does not answer, `next` waits.
 *
 * States: idle (nothing to tell, `next` waits for `wake`) → stale (something may be there, `next` pulls) → closed.
 */
export class FrameStream<Frame> implements AsyncGenerator<Frame, undefined, undefined> {
  readonly #open: (wake: () => void) => FrameSource<Frame>
  #source: FrameSource<Frame> | null = null
  #stale = true
  readonly #closing = new AbortController()
  #resume: (() => void) | null = null

  /**
   * `open` gets the function that the source calls when there may be something new. It is called at the first `next`: a stream that nobody
   * ever reads holds nothing.
   */
  constructor(open: (wake: () => void) => FrameSource<Frame>) {
    this.#open = open
  }

  async next(): Promise<IteratorResult<Frame, undefined>> {
    while (!this.#closed) {
      if (!this.#stale) {
        await new Promise<void>((resolve) => {
          this.#resume = resolve
        })
        this.#resume = null
        continue
      }
      this.#stale = false
      const pulled = await this.#pull()
      if (pulled === null || this.#closed) continue
      this.#stale = true
      if (pulled.last) this.#close()
      return { value: pulled.frame, done: false }
    }
    return { value: undefined, done: true }
  }

  async return(): Promise<IteratorResult<Frame, undefined>> {
    this.#close()
    return { value: undefined, done: true }
  }

  async throw(error: unknown): Promise<IteratorResult<Frame, undefined>> {
    this.#close()
    throw error
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  get #closed(): boolean {
    return this.#closing.signal.aborted
  }

  async #pull(): Promise<Pulled<Frame> | null> {
    try {
      this.#source ??= this.#open(() => this.#wake())
      const source = this.#source
      return await untilDatabaseAnswers(() => source.pull(), this.#closing.signal)
    } catch (error) {
      if (this.#closed) return null
      this.#close()
      throw error
    }
  }

  #wake(): void {
    this.#stale = true
    this.#resume?.()
  }

  #close(): void {
    if (this.#closed) return
    this.#closing.abort()
    this.#source?.close()
    this.#resume?.()
  }
}
