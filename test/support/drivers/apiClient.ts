import { type Client, createClient } from 'graphql-ws/client'
import { WebSocket } from 'ws'

export interface GraphQLResponse<Data> {
  readonly status: number
  readonly data: Data | null
  readonly errors: readonly {
    readonly message: string
    readonly extensions?: { readonly code?: string; readonly errorId?: string }
  }[]
}

/** One that is closed while it connects says so by an error: it must not end the tests. */
class QuietSocket extends WebSocket {
  constructor(address: string, protocols: string) {
    super(address, protocols)
    this.on('error', () => undefined)
  }
}

/** A caller of one server's API or worker's protocol, over HTTP and WebSocket. */
export class ApiClient {
  readonly url: string
  readonly token: string | null
  readonly #sockets: Client[] = []
  #worker: ApiClient | null = null

  constructor(url: string, token: string | null) {
    this.url = url
    this.token = token
  }

  /** The same caller of the worker's protocol. */
  get worker(): ApiClient {
    this.#worker ??= new ApiClient(this.url.replace(/\/graphql$/, '/worker'), this.token)
    return this.#worker
  }

  /** One request over HTTP, whatever becomes of it. Throws when there is no answer, or none before `signal`. */
  async send<Data>(
    query: string,
    variables: Record<string, unknown> = {},
    signal: AbortSignal | null = null,
  ): Promise<GraphQLResponse<Data>> {
    const response = await fetch(this.url, {
      signal,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(this.token === null ? {} : { authorization: `Bearer ${this.token}` }),
      },
      body: JSON.stringify({ query, variables }),
    })
    const body = (await response.json()) as Partial<GraphQLResponse<Data>>
    return { status: response.status, data: body.data ?? null, errors: body.errors ?? [] }
  }

  /** The data; throws on any top-level error. */
  async ask<Data>(query: string, variables: Record<string, unknown> = {}): Promise<Data> {
    const { data, errors } = await this.send<Data>(query, variables)
    if (data === null || errors.length > 0)
      throw new Error(`${query}: ${errors.map((error) => error.message).join('; ')}`)
    return data
  }

  /** A WebSocket of its own, which does not reconnect. */
  socket(): Client {
    const client = createClient({
      url: this.url.replace(/^http/, 'ws'),
      webSocketImpl: QuietSocket,
      connectionParams: this.token === null ? {} : { authorization: `Bearer ${this.token}` },
      retryAttempts: 0,
      lazy: true,
    })
    this.#sockets.push(client)
    return client
  }

  async close(): Promise<void> {
    for (const client of this.#sockets) await client.dispose()
    await this.#worker?.close()
  }
}
