import type { FrameSink } from '../../feed/frameSink.ts'
import type { Attachment } from '../../feed/pulledSubscription.ts'
import type { Executed, ResultSink } from '../kit/resultSink.ts'

/**
 * A subscription whose frames go straight to the transport's sink. Only its end is left to read: `next` waits for it, so that the transport takes the
 * operation as running and can end it by `return`.
 */
export class PushedSubscription implements FrameSink<Executed> {
  readonly #join: (sink: FrameSink<Executed>) => Attachment
  readonly #sink: ResultSink
  readonly #ended: Promise<IteratorResult<never, undefined>>
  #resolve: (result: IteratorResult<never, undefined>) => void = () => undefined
  #reject: (error: unknown) => void = () => undefined
  #member: Attachment | null = null
  #isOver = false

  constructor(join: (sink: FrameSink<Executed>) => Attachment, sink: ResultSink) {
    this.#join = join
    this.#sink = sink
    this.#ended = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#ended.catch(() => undefined)
  }

  get ready(): boolean {
    return this.#sink.ready
  }

  whenReady(callback: () => void): void {
    this.#sink.whenReady(callback)
  }

  send(executed: Executed): void {
    this.#sink.send(executed)
  }

  end(error: unknown): void {
    this.#isOver = true
    if (error === null) this.#resolve({ value: undefined, done: true })
    else this.#reject(error)
  }

  next(): Promise<IteratorResult<never, undefined>> {
    if (!this.#isOver) this.#member ??= this.#join(this)
    return this.#ended
  }

  async return(): Promise<void> {
    this.#member?.close()
    this.end(null)
  }
}
