import { type Client, createClient } from 'graphql-ws/client'
import { WebSocket } from 'ws'

/** A GraphQL client over one WebSocket, for queries, mutations and subscriptions alike. */
export class Api {
  readonly #client: Client

  constructor(url: string, token: string) {
    this.#client = createClient({
      url: url.replace(/^http/, 'ws'),
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${token}` },
      shouldRetry: () => true,
      retryAttempts: 20,
    })
  }

  /** Runs one operation. Throws the top-level errors. */
  async run<Data>(query: string, variables: Record<string, unknown> = {}): Promise<Data> {
    for await (const { data, errors } of this.#client.iterate<Data>({ query, variables })) {
      if (errors?.length) throw new Error(errors.map((error) => error.message).join('\n'))
      if (data) return data
    }
    throw new Error('The server did not answer.')
  }

  /** Runs a mutation whose only field is a result union. Returns the payload, or throws the message of an error member. */
  async mutate<Payload>(mutation: string, variables: Record<string, unknown> = {}): Promise<Payload> {
    const data = await this.run<
      Record<string, Payload & { message?: string; issues?: readonly { path: string[]; message: string }[] }>
    >(mutation, variables)
    const [result] = Object.values(data)
    if (!result) throw new Error('The mutation has no result.')
    if (result.message !== undefined)
      throw new Error([result.message, ...(result.issues ?? []).map((issue) => issue.message)].join('\n'))
    return result
  }

  /** Follows a subscription until `close`. */
  subscribe<Data>(
    query: string,
    variables: Record<string, unknown>,
    onData: (data: Data) => void,
    onError: (error: Error) => void,
  ): void {
    this.#client.subscribe<Data>(
      { query, variables },
      {
        next: ({ data, errors }) => {
          if (errors?.length) onError(new Error(errors.map((error) => error.message).join('\n')))
          else if (data) onData(data)
        },
        error: (error) => onError(error instanceof Error ? error : new Error(JSON.stringify(error))),
        complete: () => undefined,
      },
    )
  }

  /** Yields the data of a subscription's frames until the caller stops. Throws the top-level errors. */
  async *follow<Data>(query: string, variables: Record<string, unknown>): AsyncGenerator<Data, void, undefined> {
    for await (const { data, errors } of this.#client.iterate<Data>({ query, variables })) {
      if (errors?.length) throw new Error(errors.map((error) => error.message).join('\n'))
      if (data) yield data
    }
  }

  async close(): Promise<void> {
    await this.#client.dispose()
  }
}
