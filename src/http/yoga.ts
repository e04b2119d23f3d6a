import { type ExecutionArgs, execute, GraphQLError, type GraphQLSchema } from 'graphql'
import { createYoga, type YogaServerInstance } from 'graphql-yoga'
import { createContext, type GraphQLContext, type Viewer } from '../graphql/kit/context.ts'
import type { ServerContext } from '../systems/serverContext.ts'
import { maskError } from './maskError.ts'
import { requestBytes } from './requestBody.ts'

export interface Requester extends Record<string, unknown> {
  readonly viewer: Viewer
}

export type Yoga = YogaServerInstance<Requester, GraphQLContext>

/** Queries and mutations over HTTP, answered as JSON. */
export function createYogaServer(app: ServerContext, schema: GraphQLSchema): Yoga {
  return createYoga<Requester, GraphQLContext>({
    schema,
    graphqlEndpoint: '/graphql',
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
    plugins: [
      {
        // The executor of the WebSocket, so that both transports answer alike.
        onExecute: ({ setExecuteFn }: { setExecuteFn: (fn: (args: ExecutionArgs) => unknown) => void }) =>
          setExecuteFn(execute),
        onSubscribe: ({ setResultAndStopExecution }: { setResultAndStopExecution: (result: unknown) => void }) =>
          setResultAndStopExecution({ errors: [noEvents()] }),
      },
    ],
  })
}

/** A subscription comes here only when event streams could not take it. */
function noEvents(): GraphQLError {
  return new GraphQLError(
    'A subscription is answered with server-sent events: send it as JSON, with "Accept: text/event-stream", or over a WebSocket.',
    { extensions: { code: 'NOT_ACCEPTABLE', http: { status: 406 } } },
  )
}
