import type { FrameSink } from './frameSink.ts'

interface Waiting<Made> {
  readonly resolve: (result: IteratorResult<Made, undefined>) => void
  readonly reject: (error: unknown) => void
}

/** A subscription needs only this of its membership in a group. */
export interface Attachment {
  pump(): void
  close(): void
}

/**
 * A subscription that is read by `next`: while nobody reads, nothing is sent to it. `return` ends a waiting `next` at once, so that a dead
 * connection leaves no listener.
 */
export class PulledSubscription<Made> implements AsyncGenerator<Made, undefined, undefined>, FrameSink<Made> {
  readonly #join: (sink: FrameSink<Made>) => Attachment
  #member: Attachment | null = null
  readonly #waiting: Waiting<Made>[] = []
  #ended = false
  #error: unknown = null

  /** `join` is called at the first `next`: a stream that nobody reads holds nothing. */
  constructor(join: (sink: FrameSink<Made>) => Attachment) {
    this.#join = join
  }

  get ready(): boolean {
    return this.#waiting.length > 0
  }

  whenReady(): void {
    // The next `next` asks for what waits.
  }

  send(made: Made): void {
    this.#waiting.shift()?.resolve({ value: made, done: false })
  }

  end(error: unknown): void {
    this.#ended = true
    this.#error = error
    const first = error === null ? undefined : this.#waiting.shift()
    if (first !== undefined) {
      this.#error = null
      first.reject(error)
    }
    for (const waiting of this.#waiting.splice(0)) waiting.resolve({ value: undefined, done: true })
  }

  next(): Promise<IteratorResult<Made, undefined>> {
    if (this.#ended) {
      const error = this.#error
      this.#error = null
      return error === null ? Promise.resolve({ value: undefined, done: true }) : Promise.reject(error)
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      if (this.#member === null) this.#member = this.#join(this)
      else this.#member.pump()
    })
  }

  async return(): Promise<IteratorResult<Made, undefined>> {
    this.#member?.close()
    this.end(null)
    return { value: undefined, done: true }
  }

  async throw(error: unknown): Promise<IteratorResult<Made, undefined>> {
    await this.return()
    throw error
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
