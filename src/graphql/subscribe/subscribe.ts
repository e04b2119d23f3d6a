import { createSourceEventStream, type ExecutionArgs, type ExecutionResult } from 'graphql'
import type { FrameSink } from '../../feed/frameSink.ts'
import { PulledSubscription } from '../../feed/pulledSubscription.ts'
import { SharedSource } from '../../feed/sharedSource.ts'
import { LogSource } from '../../systems/logs/logReaders.ts'
import type { GraphQLContext } from '../kit/context.ts'
import { withOperationCodes } from '../kit/operationErrors.ts'
import { badUserInput } from '../kit/requestErrors.ts'
import type { Executed } from '../kit/resultSink.ts'
import { executeFrame } from './executed.ts'
import { groupKey } from './groupKey.ts'
import { PushedSubscription } from './pushedSubscription.ts'
import { isRootFieldLeftOut } from './rootField.ts'
import { SubscriptionResults } from './subscriptionResults.ts'

const nothingToFollow =
  'The subscription has no field left to follow: @skip or @include leaves it out. Do not send the operation then.'

/**
 * Subscribes like graphql-js, but subscriptions that are alike share the execution of their frames, and each frame is executed in a context of its
 * own. An error becomes the last result, so that the connection and its other operations live on.
 */
export async function subscribe(
  args: ExecutionArgs,
): Promise<AsyncGenerator<ExecutionResult, undefined, undefined> | ExecutionResult> {
  if (isRootFieldLeftOut(args)) return { errors: [badUserInput(nothingToFollow)] }
  const source = await createSourceEventStream(args)
  if (!(Symbol.asyncIterator in source)) return withOperationCodes(args, source)
  const context = args.contextValue as GraphQLContext
  if (!(source instanceof SharedSource || source instanceof LogSource))
    throw new Error('A subscription of the schema follows something that cannot be joined.')
  const key = groupKey(args, source.identity)
  const join = (sink: FrameSink<Executed>) => source.join(key, (frame: unknown) => executeFrame(args, frame), sink)
  const { sink } = context
  return new SubscriptionResults(
    context,
    sink === undefined ? new PulledSubscription(join) : new PushedSubscription(join, sink),
  )
}
