import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setImmediate as otherWork } from 'node:timers/promises'
import type { FullStream, WaitingBytes } from './slowReaders.ts'

/**
 * Lets results into an event stream only while it takes more bytes. Those that had to wait enter one after the other, so that each sees
 * what the one before it has written. Meanwhile what waits on the stream counts in the server's budget.
 */
export class StreamGate implements FullStream {
  readonly #response: ServerResponse
  readonly #budget: WaitingBytes
  #waiting = 0
  #turn: Promise<void> = Promise.resolve()

  constructor(response: ServerResponse, budget: WaitingBytes) {
    this.#response = response
    this.#budget = budget
  }

  get waitingBytes(): number {
    return this.#response.writableLength
  }

  /** No end is sent, so that its reader comes back with `after`. */
  closeSlow(): void {
    this.#response.destroy()
  }

  /** Resolves when it is this caller's turn, and when the stream is closed. */
  async enter(): Promise<void> {
    if (this.#waiting === 0 && !this.#response.writableNeedDrain) return
    this.#waiting++
    this.#turn = this.#turn.then(() => this.#untilDrained())
    await this.#turn
    this.#waiting--
  }

  async #untilDrained(): Promise<void> {
    while (this.#response.writableNeedDrain && !this.#response.destroyed) {
      this.#budget.full(this)
      const waited = new AbortController()
      const options = { signal: waited.signal }
      await Promise.race([once(this.#response, 'drain', options), once(this.#response, 'close', options)]).catch(
        () => undefined,
      )
      waited.abort()
      this.#budget.drained(this)
    }
    await otherWork()
  }
}

/** Passes results on as they are, but asks for each only when the stream takes more. The feed bounds what waits meanwhile (R16). */
export function gated<Result>(
  results: AsyncGenerator<Result, undefined, undefined>,
  gate: StreamGate,
): AsyncIterableIterator<Result> {
  return {
    next: async () => {
      await gate.enter()
      return results.next()
    },
    return: () => results.return(undefined),
    throw: (error) => results.throw(error),
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
