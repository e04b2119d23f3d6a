import type { GraphQLError, GraphQLSchema } from 'graphql'
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga'
import { createContext, type GraphQLContext, type Viewer } from '../graphql/kit/context.ts'
import { errorCodes } from '../graphql/kit/errorCodes.ts'
import { requestError } from '../graphql/kit/requestErrors.ts'
import type { ServerContext } from '../systems/serverContext.ts'
import { parseDocument, validateDocument } from './documents.ts'
import { executeForHttp } from './executeOperation.ts'
import { maskError } from './maskError.ts'
import { requestBytes } from './requestBody.ts'

export interface Requester extends Record<string, unknown> {
  readonly viewer: Viewer
}

export type Yoga = YogaServerInstance<Requester, GraphQLContext>

/** The parser, validator and executor of the other transports, so that all answer alike. */
const sameEngine: Plugin = {
  onParse: ({ setParseFn }) => setParseFn(parseDocument),
  onValidate: ({ setValidationFn }) => setValidationFn(validateDocument),
  onExecute: ({ setExecuteFn }) => setExecuteFn(executeForHttp),
  onSubscribe: ({ setResultAndStopExecution }) => setResultAndStopExecution({ errors: [noEvents()] }),
}

/** Queries and mutations over HTTP, answered as JSON. */
export function createYogaServer(app: ServerContext, schema: GraphQLSchema, path: string): Yoga {
  return createYoga<Requester, GraphQLContext>({
    schema,
    graphqlEndpoint: path,
    landingPage: false,
    graphiql: false,
    multipart: false,
    cors: false,
    logging: false,
    maxRequestBodySize: requestBytes,
    context: ({ viewer }) => createContext(app, viewer),
    maskedErrors: {
      errorMessage: 'The server failed to answer this.',
      maskError: (error) => maskError(error, app.log),
    },
    plugins: [sameEngine],
  })
}

/** A subscription comes here only when event streams could not take it. */
function noEvents(): GraphQLError {
  return requestError(
    'NOT_ACCEPTABLE',
    'A subscription is answered with server-sent events: send "Accept: text/event-stream", or use a WebSocket.',
    { http: { status: errorCodes.NOT_ACCEPTABLE.status } },
  )
}
