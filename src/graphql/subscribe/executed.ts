import { type ExecutionArgs, type ExecutionResult, execute, GraphQLError } from 'graphql'
import { FeedRefusal } from '../../feed/feedRefusal.ts'
import { databaseErrorOf } from '../../store/database/databaseErrors.ts'
import { createContext, type GraphQLContext } from '../kit/context.ts'
import { errorOf } from '../kit/refusalError.ts'
import { Executed } from '../kit/resultSink.ts'

/** A frame could not be made. Without it the next one would leave a gap, so this ends the subscription. */
export class FrameFailure extends Error {
  readonly errors: readonly GraphQLError[]

  constructor(errors: readonly GraphQLError[]) {
    super(errors.map((error) => error.message).join('; '))
    this.errors = errors
  }
}

/**
 * Executes a subscription's document on one frame, in a context of its own: nothing that was loaded for one frame answers the next. An
 * error of the database is thrown as it came, even when only a part of the frame is missing, because the frame can be made later.
 */
export async function executeFrame(args: ExecutionArgs, frame: unknown): Promise<Executed> {
  const { app, viewer } = args.contextValue as GraphQLContext
  const result = await execute({ ...args, rootValue: frame, contextValue: createContext(app, viewer) })
  const troubled = result.errors?.find(({ originalError }) => databaseErrorOf(originalError) !== null)
  if (troubled !== undefined) throw troubled.originalError
  if (result.data == null) throw new FrameFailure(result.errors ?? [])
  return new Executed(result)
}

/** Makes the last result of a subscription from the error that ended it. */
export function failureOf(error: unknown): ExecutionResult {
  if (error instanceof FrameFailure) return { errors: error.errors }
  if (error instanceof FeedRefusal) return { errors: [errorOf(error.refusal)] }
  if (error instanceof GraphQLError) return { errors: [error] }
  const originalError = error instanceof Error ? error : new Error(String(error))
  return { errors: [new GraphQLError(originalError.message, { originalError })] }
}
