import { createSourceEventStream, type ExecutionArgs, type ExecutionResult } from 'graphql'
import { PulledSubscription } from '../../feed/pulledSubscription.ts'
import { SharedSource } from '../../feed/sharedSource.ts'
import { untilDatabaseAnswers } from '../../feed/untilDatabaseAnswers.ts'
import type { GraphQLContext } from '../kit/context.ts'
import { type Executed, executeFrame } from './executed.ts'
import { groupKey } from './groupKey.ts'
import { PushedSubscription } from './pushedSubscription.ts'
import { SubscriptionResults } from './subscriptionResults.ts'

/**
 * Subscribes like graphql-js, but alike subscriptions share their frames' execution, and each frame is executed in a context of its own. An
 * error is one last result with that error: the connection and its other operations live on.
 */
export async function subscribe(
  args: ExecutionArgs,
): Promise<AsyncGenerator<ExecutionResult, undefined, undefined> | ExecutionResult> {
  const source = await createSourceEventStream(args)
  if (!(Symbol.asyncIterator in source)) return source
  const context = args.contextValue as GraphQLContext
  if (!(source instanceof SharedSource)) {
    const events = source[Symbol.asyncIterator]()
    const closing = new AbortController()
    const executed = {
      next: async (): Promise<IteratorResult<Executed, undefined>> => {
        const event = await events.next()
        if (event.done) return { value: undefined, done: true }
        return { value: await untilDatabaseAnswers(() => executeFrame(args, event.value), closing.signal), done: false }
      },
      return: async () => {
        closing.abort()
        await events.return?.()
      },
    }
    return new SubscriptionResults(context, executed)
  }
  const key = groupKey(args, source.identity)
  const join = (outlet: Parameters<typeof source.join<Executed>>[2]) =>
    source.join(key, (frame) => executeFrame(args, frame), outlet)
  const { outlet } = context
  return new SubscriptionResults(
    context,
    outlet === undefined ? new PulledSubscription(join) : new PushedSubscription(join, outlet),
  )
}
