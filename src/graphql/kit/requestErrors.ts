import { GraphQLError, type GraphQLErrorOptions } from 'graphql'
import { errorCodes, type RequestErrorCode } from './errorCodes.ts'

/** A failure that is not a member of any result union: a top-level error with a code that programs can read. */
export function requestError(
  code: RequestErrorCode,
  message: string,
  extensions: Readonly<Record<string, unknown>> = {},
  at: Pick<GraphQLErrorOptions, 'nodes' | 'path'> = {},
): GraphQLError {
  return new GraphQLError(message, { ...at, extensions: { code, ...extensions } })
}

export function badUserInput(message: string): GraphQLError {
  return requestError('BAD_USER_INPUT', message)
}

const tokenNeeded = `This needs a valid token. ${errorCodes.UNAUTHENTICATED.remedy}`

export function unauthenticated(message: string = tokenNeeded): GraphQLError {
  return requestError('UNAUTHENTICATED', message, {
    http: { status: errorCodes.UNAUTHENTICATED.status, headers: { 'WWW-Authenticate': 'Bearer' } },
  })
}
