import { GraphQLError } from 'graphql'
import type { Logger } from 'pino'
import { v7 } from 'uuid'
import { requestError } from '../graphql/kit/requestErrors.ts'
import { DatabaseError, databaseErrorOf } from '../store/database/databaseErrors.ts'

/**
 * Errors that were made for the caller pass, and the database's trouble is told as such. Anything else is a fault of the server: the caller
 * gets an id and nothing of its inside, and the log has the whole of it under that id.
 */
export function maskError(error: unknown, log: Logger): GraphQLError {
  const original = error instanceof GraphQLError ? error.originalError : error
  if (
    error instanceof GraphQLError &&
    (original === undefined || original === null || original instanceof GraphQLError)
  )
    return error
  const { nodes = null, path = null } = error instanceof GraphQLError ? error : {}
  const at = { nodes, path }
  const kind = databaseErrorOf(original)
  if (kind !== null) {
    const { message } = original instanceof DatabaseError ? original : new DatabaseError(kind, null)
    log.warn({ err: original, path }, message)
    return requestError(`DATABASE_${kind}`, message, {}, at)
  }
  const errorId = v7()
  log.error({ err: original, errorId, path }, `Internal error ${errorId}`)
  const message = `The server failed to answer this: internal error ${errorId}. Its log has the cause under this id.`
  return requestError('INTERNAL_SERVER_ERROR', message, { errorId }, at)
}
