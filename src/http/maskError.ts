import { GraphQLError } from 'graphql'
import type { Logger } from 'pino'
import { v7 } from 'uuid'
import { withCode } from '../graphql/kit/operationErrors.ts'
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
    return withTableCode(error)
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

/**
 * Gives an error of a library the code of this API's table, by the status that the library chose for it. `spec` says that
 * the status of an answer as application/json is 200: a request that is not one of GraphQL at all is always a 400.
 */
function withTableCode(error: GraphQLError): GraphQLError {
  const { code, http } = error.extensions
  const { status } = (http ?? {}) as { readonly status?: number }
  if (code !== undefined && code !== 'BAD_REQUEST' && code !== 'REQUEST_ENTITY_TOO_LARGE') return error
  if (status === undefined) return withCode(error, 'BAD_REQUEST')
  if (status === 405) return withCode(error, 'METHOD_NOT_ALLOWED')
  if (status === 413) return withCode(error, 'PAYLOAD_TOO_LARGE')
  return withCode(error, 'BAD_REQUEST', { status: 400, spec: false })
}
