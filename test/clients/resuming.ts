import type { Client } from 'graphql-ws/client'

/**
 * graphql-ws' client writes the payload of a subscription anew at each reconnect: so a payload whose `after` follows the frames resumes where
 * the last one was. Clients above it copy their variables, so this belongs below them.
 */
export function resuming(client: Client): Client {
  return {
    ...client,
    subscribe: (payload, sink) => {
      const variables = { ...payload.variables }
      return client.subscribe<Record<string, { revision?: string }>>(
        { ...payload, variables },
        {
          next: (result) => {
            const [frame] = Object.values(result.data ?? {})
            if (frame?.revision !== undefined) variables['after'] = frame.revision
            sink.next(result as Parameters<typeof sink.next>[0])
          },
          error: (error) => sink.error(error),
          complete: () => sink.complete(),
        },
      )
    },
  }
}
