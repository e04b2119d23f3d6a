import type { ExecutionResult, GraphQLError } from 'graphql'
import type { FrameSink, SharedFrame } from '../../feed/frameSink.ts'

/** An error with its place, message and stack is taken to have so many bytes. */
const errorBytes = 2_048

/** The result of a frame, made once for all who get it. While it waits for somebody, its data is kept as bytes only. */
export class Executed implements SharedFrame {
  readonly errors: readonly GraphQLError[]
  #result: ExecutionResult | null
  #data: Buffer | null = null
  /** How a message ends after the data, as the first transport that needed it wrote it. */
  ending: Buffer | null = null

  constructor(result: ExecutionResult) {
    this.#result = result
    this.errors = result.errors ?? []
  }

  /** For transports that write results themselves. */
  get result(): ExecutionResult {
    if (this.#result !== null) return this.#result
    const data = JSON.parse(String(this.data)) as Record<string, unknown>
    return this.errors.length === 0 ? { data } : { data, errors: this.errors }
  }

  /** The data as JSON. */
  get data(): Buffer {
    this.#data ??= Buffer.from(JSON.stringify(this.#result?.data ?? null))
    return this.#data
  }

  get size(): number {
    return this.data.length + this.errors.length * errorBytes
  }

  keepBytes(): void {
    this.#data = this.data
    this.#result = null
  }
}

/** Takes the results of frames directly, for transports that send the same bytes to many. */
export type ResultSink = Pick<FrameSink<Executed>, 'ready' | 'whenReady' | 'send'>
