import { type ExecutionArgs, execute, type GraphQLSchema } from 'graphql'
import { createYoga, type YogaServerInstance } from 'graphql-yoga'
import { createContext, type GraphQLContext, type Viewer } from '../graphql/kit/context.ts'
import { subscribe } from '../graphql/subscribe/subscribe.ts'
import type { ServerContext } from '../systems/serverContext.ts'
import { maskError } from './maskError.ts'

/** The largest body of a request. */
const requestBytes = 1_048_576

export interface Requester extends Record<string, unknown> {
  readonly viewer: Viewer
}

export type Yoga = YogaServerInstance<Requester, GraphQLContext>

/** GraphQL over HTTP: queries and mutations as JSON, subscriptions as server-sent events. */
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
        onSubscribe: ({ setSubscribeFn }: { setSubscribeFn: (fn: (args: ExecutionArgs) => unknown) => void }) =>
          setSubscribeFn(subscribe),
      },
    ],
  })
}
