import { createSourceEventStream, type ExecutionArgs, type ExecutionResult, execute, GraphQLError } from 'graphql'
import { FeedRefusal } from '../controller/feed/feedRefusal.ts'
import { createContext, type GraphQLContext } from './context.ts'
import { errorOf } from './refusalError.ts'

/**
 * Subscribes like graphql-js, but each event is executed in a context of its own, so that nothing that was loaded for one event answers
 * the next. An error of the source is one last result with that error: the socket and its other operations live on.
 */
export async function subscribe(args: ExecutionArgs): Promise<AsyncGenerator<ExecutionResult, undefined, undefined> | ExecutionResult> {
  const source = await createSourceEventStream(args)
  return Symbol.asyncIterator in source ? new EventResults(source[Symbol.asyncIterator](), args) : source
}

/** Results of a source's events. `return` goes straight to the source: it also ends a `next` that waits there. */
class EventResults implements AsyncGenerator<ExecutionResult, undefined, undefined> {
  readonly #source: AsyncIterator<unknown>
  readonly #args: ExecutionArgs
  #closed = false

  constructor(source: AsyncIterator<unknown>, args: ExecutionArgs) {
    this.#source = source
    this.#args = args
  }

  async next(): Promise<IteratorResult<ExecutionResult, undefined>> {
    if (this.#closed) return { value: undefined, done: true }
    try {
      const event = await this.#source.next()
      if (event.done || this.#closed) return { value: undefined, done: true }
      const { app, viewer } = this.#args.contextValue as GraphQLContext
      const result = await execute({ ...this.#args, rootValue: event.value, contextValue: createContext(app, viewer) })
      return { value: result, done: false }
    } catch (error) {
      await this.return()
      return { value: { errors: [asGraphQLError(error)] }, done: false }
    }
  }

  async return(): Promise<IteratorResult<ExecutionResult, undefined>> {
    this.#closed = true
    await this.#source.return?.()
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
}

function asGraphQLError(error: unknown): GraphQLError {
  if (error instanceof FeedRefusal) return errorOf(error.refusal)
  if (error instanceof GraphQLError) return error
  const originalError = error instanceof Error ? error : new Error(String(error))
  return new GraphQLError(originalError.message, { originalError })
}
