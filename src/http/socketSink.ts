import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Executed, ResultSink } from '../graphql/kit/resultSink.ts'

/** A socket on which more bytes than this (16 MiB) wait is closed, because its reader can come back with `after`. */
export const mostBytesWaiting = 16_777_216

/** Calls those who wait until a socket takes more, first come, first served. */
export class SocketDrain {
  readonly #stream: Duplex
  readonly #waiting = new Set<() => void>()

  constructor(stream: Duplex) {
    this.#stream = stream
    stream.on('drain', () => this.#callWaiting())
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
  readonly #encode: (executed: Executed) => Buffer

  constructor(socket: WebSocket, drain: SocketDrain, id: string, encode: (executed: Executed) => Buffer) {
    this.#socket = socket
    this.#drain = drain
    this.#beginning = Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`)
    this.#encode = encode
  }

  get ready(): boolean {
    return !this.#drain.isFull
  }

  whenReady(callback: () => void): void {
    this.#drain.wait(callback)
  }

  send(executed: Executed): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    executed.bytes ??= this.#encode(executed)
    const { bytes } = executed
    const begun = this.#beginning.length
    const message = Buffer.allocUnsafe(begun + bytes.length)
    this.#beginning.copy(message)
    bytes.copy(message, begun)
    this.#socket.send(message, asText)
  }
}

const asText = { binary: false }
