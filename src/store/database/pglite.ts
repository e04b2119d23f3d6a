import { Duplex } from 'node:stream'
import type { PGlite } from '@electric-sql/pglite'

const lengthBytes = 4
const typeBytes = 1
const terminate = 'X'.charCodeAt(0)

/**
 * A connection of the ordinary `pg` driver to a PGlite in this process, without a socket: the driver writes protocol messages, PGlite
 * answers them. PGlite has one session, so a pool over it has one connection; a new one first clears what a discarded one left behind.
 */
export class PGliteStream extends Duplex {
  readonly #pglite: PGlite
  #received: Buffer = Buffer.alloc(0)
  #greeted = false

  constructor(pglite: PGlite) {
    super()
    this.#pglite = pglite
  }

  // The part of net.Socket that pg uses.
  connect(): this {
    queueMicrotask(() => this.emit('connect'))
    return this
  }
  setNoDelay(): this {
    return this
  }
  setKeepAlive(): this {
    return this
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }

  override _read(): void {
    // Answers are pushed as they come.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#answerChunk(chunk).then(() => done(), done)
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#answerChunk(Buffer.concat(chunks.map(({ chunk }) => chunk))).then(() => done(), done)
  }

  override _final(done: () => void): void {
    this.push(null)
    done()
  }

  async #answerChunk(chunk: Buffer): Promise<void> {
    this.#received = this.#received.length > 0 ? Buffer.concat([this.#received, chunk]) : chunk
    if (!this.#greeted) await this.#clearSession()
    const messages = this.#takeWholeMessages()
    if (messages.length === 0) return
    // If it answered within pg's own write(), the answer would come before pg has noted its query as the active one.
    await Promise.resolve()
    await this.#pglite.execProtocolRawStream(messages, { onRawData: (data) => void this.push(Buffer.from(data)) })
  }

  async #clearSession(): Promise<void> {
    await this.#pglite.exec('ROLLBACK')
    await this.#pglite.exec('DEALLOCATE ALL')
  }

  #takeWholeMessages(): Uint8Array {
    const whole: Buffer[] = []
    let from = 0
    for (;;) {
      // The first message, the greeting, has no type byte.
      const prefix = this.#greeted ? typeBytes : 0
      if (this.#received.length < from + prefix + lengthBytes) break
      const to = from + prefix + this.#received.readInt32BE(from + prefix)
      if (this.#received.length < to) break
      // Passing on the driver's goodbye would end PGlite's only session.
      if (!this.#greeted || this.#received[from] !== terminate) whole.push(this.#received.subarray(from, to))
      this.#greeted = true
      from = to
    }
    this.#received = this.#received.subarray(from)
    return new Uint8Array(Buffer.concat(whole))
  }
}
