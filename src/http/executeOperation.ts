import { type ExecutionArgs, type ExecutionResult, execute } from 'graphql'
import { withCode, withOperationCodes } from '../graphql/kit/operationErrors.ts'

/** Executes as graphql-js does, and gives each error that it finds itself a code. */
export async function executeOperation(args: ExecutionArgs): Promise<ExecutionResult> {
  return withOperationCodes(args, await execute(args))
}

/**
 * Executes for Yoga. An operation that has not begun is a request error, which GraphQL over HTTP answers with 400 as
 * application/graphql-response+json, and with 200 as application/json.
 */
export async function executeForHttp(args: ExecutionArgs): Promise<ExecutionResult> {
  const result = await executeOperation(args)
  if (result.errors === undefined || result.data !== undefined) return result
  const http = { status: 400, spec: true }
  const errors = result.errors.map((error) => {
    const { code } = error.extensions
    return code === 'BAD_USER_INPUT' || code === 'OPERATION_RESOLUTION_FAILURE' ? withCode(error, code, http) : error
  })
  return { errors }
}
