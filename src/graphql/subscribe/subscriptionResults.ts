import type { ExecutionResult } from 'graphql'
import type { GraphQLContext } from '../kit/context.ts'
import { errorOf } from '../kit/refusalError.ts'
import type { Executed } from '../kit/resultSink.ts'
import { failureOf } from './executed.ts'

/** Gives executed frames in order. `return` also ends a `next` that waits. */
export interface ExecutedFrames {
  next(): Promise<IteratorResult<Executed, undefined>>
  return(): Promise<unknown>
}

/** Gives the results of one subscription. An error is the last of them, and so is FORBIDDEN as soon as the caller's token is no longer valid (R16). */
export class SubscriptionResults implements AsyncGenerator<ExecutionResult, undefined, undefined> {
  readonly #context: GraphQLContext
  readonly #frames: ExecutedFrames
  #unfollow: (() => void) | null = null
  #closed = false
  #isForbidden = false

  constructor(context: GraphQLContext, frames: ExecutedFrames) {
    this.#context = context
    this.#frames = frames
  }

  async next(): Promise<IteratorResult<ExecutionResult, undefined>> {
    if (this.#closed) return { value: undefined, done: true }
    const { app, viewer } = this.#context
    if (viewer !== null) this.#unfollow ??= app.sessions.follow(viewer, () => this.#endAsForbidden())
    let failure: unknown = null
    try {
      const frame = await this.#frames.next()
      if (!frame.done && !this.#isForbidden && !this.#closed) return { value: frame.value.result, done: false }
    } catch (error) {
      failure = error
    }
    const wasClosed = this.#closed
    await this.return()
    if (wasClosed) return { value: undefined, done: true }
    if (this.#isForbidden)
      failure = errorOf({
        code: 'FORBIDDEN',
        message: 'Your token is no longer valid, or its roles have changed: get another one.',
      })
    return failure === null ? { value: undefined, done: true } : { value: failureOf(failure), done: false }
  }

  async return(): Promise<IteratorResult<ExecutionResult, undefined>> {
    this.#closed = true
    this.#unfollow?.()
    await this.#frames.return()
    return { value: undefined, done: true }
  }

  async throw(error: unknown): Promise<IteratorResult<ExecutionResult, undefined>> {
    await this.return()
    throw error
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #endAsForbidden(): void {
    this.#isForbidden = true
    this.#context.app.feed.counts.cut++
    void this.#frames.return()
  }
}
