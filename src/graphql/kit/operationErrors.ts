import { type DocumentNode, type ExecutionArgs, type ExecutionResult, GraphQLError, getOperationAST } from 'graphql'
import type { RequestErrorCode } from './errorCodes.ts'
import { requestError } from './requestErrors.ts'

/** Returns an error of a library, which has no code of this API, with the code and, where it matters, words for HTTP. */
export function withCode(
  error: GraphQLError,
  code: RequestErrorCode,
  http?: { readonly status: number; readonly spec: boolean },
): GraphQLError {
  const { message, nodes = null, source = null, positions = null, path = null } = error
  const extensions = { ...error.extensions, code, ...(http === undefined ? {} : { http }) }
  return new GraphQLError(message, { nodes, source, positions, path, extensions })
}

/** Returns why a document has no operation to execute, or null when it has one. */
export function operationMissing(document: DocumentNode, operationName: unknown): GraphQLError | null {
  const name = typeof operationName === 'string' ? operationName : null
  if (getOperationAST(document, name)) return null
  const message =
    name === null
      ? 'The document does not have exactly one operation: send the name of one as operationName.'
      : `The document has no operation named ${JSON.stringify(name.slice(0, 100))}: correct operationName.`
  return requestError('OPERATION_RESOLUTION_FAILURE', message)
}

/**
 * Gives a code to the errors that graphql-js itself finds when it executes an operation. Without data the operation has
 * not begun: its name or its variables are wrong. With data, an argument of one field is wrong.
 */
export function withOperationCodes(args: ExecutionArgs, result: ExecutionResult): ExecutionResult {
  if (result.errors === undefined) return result
  const missing = operationMissing(args.document, args.operationName)
  if (missing !== null) return { errors: [missing] }
  const errors = result.errors.map((error) => (isCallersMistake(error) ? withCode(error, 'BAD_USER_INPUT') : error))
  return { ...result, errors }
}

function isCallersMistake({ extensions, originalError, path, message }: GraphQLError): boolean {
  if (extensions['code'] !== undefined) return false
  if (originalError !== undefined && !(originalError instanceof GraphQLError)) return false
  return path === undefined || message.startsWith('Argument "')
}
