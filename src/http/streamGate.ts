import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setImmediate as otherWork } from 'node:timers/promises'

/**
 * Lets results into an event stream only while it takes more bytes. Those that had to wait enter one after the other, so that each sees
 * what the one before it has written.
 */
export class StreamGate {
  readonly #response: ServerResponse
  #waiting = 0
  #turn: Promise<void> = Promise.resolve()

  constructor(response: ServerResponse) {
    this.#response = response
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
    while (this.#response.writableNeedDrain) {
      const waited = new AbortController()
      const options = { signal: waited.signal }
      await Promise.race([once(this.#response, 'drain', options), once(this.#response, 'close', options)]).catch(
        () => undefined,
      )
      waited.abort()
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
