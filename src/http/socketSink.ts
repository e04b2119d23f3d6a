import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Executed, ResultSink } from '../graphql/kit/resultSink.ts'
import type { FullStream, WaitingBytes } from './slowReaders.ts'

/** A socket on which more bytes than this (16 MiB) wait is closed, because its reader can come back with `after`. */
export const mostBytesWaiting = 16_777_216

/** Calls those who wait until a socket takes more, first come, first served. Meanwhile what waits on it counts in the server's budget. */
export class SocketDrain {
  readonly #stream: Duplex
  readonly #budget: WaitingBytes
  readonly #full: FullStream
  readonly #waiting = new Set<() => void>()

  constructor(stream: Duplex, budget: WaitingBytes, full: FullStream) {
    this.#stream = stream
    this.#budget = budget
    this.#full = full
    stream.on('drain', () => {
      budget.drained(full)
      this.#callWaiting()
    })
    stream.once('close', () => budget.drained(full))
  }

  /** Must be called after each write. */
  wrote(): void {
    if (this.isFull && !this.#stream.destroyed) this.#budget.full(this.#full)
  }

  get isFull(): boolean {
    return this.#stream.writableNeedDrain
  }

  /** Calls back once. A callback that waits already keeps its place. */
  wait(callback: () => void): void {
    this.#waiting.add(callback)
  }

  #callWaiting(): void {
    for (const callback of this.#waiting) {
      if (this.isFull) return
      this.#waiting.delete(callback)
      callback()
    }
  }
}

/**
 * Sends the frames of one subscription over a WebSocket. A frame is encoded once for all who get it; only the beginning of the message, with the
 * operation's id, differs. (The protocol is graphql-transport-ws: a message `next` is its id, type and payload.)
 */
export class SocketSink implements ResultSink {
  readonly #socket: WebSocket
  readonly #drain: SocketDrain
  readonly #beginning: Buffer
  readonly #endingOf: (executed: Executed) => Buffer

  /** `endingOf`: what follows the data in the message. */
  constructor(socket: WebSocket, drain: SocketDrain, id: string, endingOf: (executed: Executed) => Buffer) {
    this.#socket = socket
    this.#drain = drain
    this.#beginning = Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":{"data":`)
    this.#endingOf = endingOf
  }

  get ready(): boolean {
    return !this.#drain.isFull
  }

  whenReady(callback: () => void): void {
    this.#drain.wait(callback)
  }

  send(executed: Executed): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    executed.ending ??= this.#endingOf(executed)
    const { data, ending } = executed
    const begun = this.#beginning.length
    const message = Buffer.allocUnsafe(begun + data.length + ending.length)
    this.#beginning.copy(message)
    data.copy(message, begun)
    ending.copy(message, begun + data.length)
    this.#socket.send(message, asText)
    this.#drain.wrote()
  }
}

const asText = { binary: false }
