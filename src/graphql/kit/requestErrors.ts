import { GraphQLError } from 'graphql'

/** A request that no result union can answer: a top-level error with a code that programs can read. */
export function badUserInput(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } })
}

export function unauthenticated(): GraphQLError {
  return new GraphQLError(
    'This needs a valid token: send "Authorization: Bearer <token>", or connectionParams.authorization on a WebSocket.',
    {
      extensions: { code: 'UNAUTHENTICATED', http: { status: 401, headers: { 'WWW-Authenticate': 'Bearer' } } },
    },
  )
}
