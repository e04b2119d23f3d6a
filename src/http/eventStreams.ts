import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { execute, type GraphQLSchema } from 'graphql'
import { createHandler } from 'graphql-sse/lib/use/http'
import type { App } from '../controller/app.ts'
import { createContext, type Viewer } from '../graphql/context.ts'
import { subscribe } from '../graphql/subscribe.ts'
import { Documents } from './documents.ts'
import { maskError } from './maskError.ts'

export const eventStreamPath = '/graphql/stream'

const requestBytes = 1_048_576
const tokenHeader = 'x-graphql-event-stream-token'

/**
 * The protocol of graphql-sse: distinct connections, and the single connection mode, in which one event stream carries the results of
 * operations that are sent beside it.
 */
export class EventStreams {
  readonly #handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>
  readonly #viewers = new WeakMap<IncomingMessage, Viewer>()
  /** Open streams of the single connection mode, by their tokens. */
  readonly #streams = new Map<string, ServerResponse>()

  constructor(app: App, schema: GraphQLSchema) {
    const documents = new Documents(schema)
    this.#handle = createHandler<Record<PropertyKey, unknown>>({
      authenticate: ({ raw }) => streamToken(raw),
      onConnect: ({ raw, context }) => this.#opened(raw, context.res),
      onSubscribe: ({ raw }, { query, operationName, variables }) => {
        const checked = documents.check(query)
        if ('errors' in checked) return { data: null, errors: checked.errors }
        const contextValue = { ...createContext(app, this.#viewers.get(raw) ?? null) }
        return { schema, document: checked.document, operationName, variableValues: variables, contextValue }
      },
      // The documents have been checked.
      validate: () => [],
      execute,
      subscribe,
      onNext: async (_context, { raw, context }, result) => {
        const token = tokenOf(raw)
        const response = token === null ? context.res : this.#streams.get(token)
        // The library's own queue knows no bound: the next result is made only when the bytes of the last ones have left.
        if (response?.writableNeedDrain) await drained(response)
        return result.errors === undefined ? undefined : { ...result, errors: result.errors.map((error) => maskError(error, app.log)) }
      },
    })
  }

  async handle(request: IncomingMessage, response: ServerResponse, viewer: Viewer): Promise<void> {
    const refusal = this.#refusal(request)
    if (refusal === null) {
      this.#viewers.set(request, viewer)
      return this.#handle(request, response)
    }
    const [status, message] = refusal
    response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' }).end(JSON.stringify({ errors: [{ message }] }))
  }

  #opened(request: IncomingMessage, response: ServerResponse): void {
    const token = tokenOf(request)
    if (token === null || this.#streams.has(token)) return
    this.#streams.set(token, response)
    response.once('close', () => this.#streams.delete(token))
  }

  /** The library reads a body whole, and queues results for streams that nobody reads: both are refused before it. */
  #refusal(request: IncomingMessage): readonly [status: number, message: string] | null {
    if (request.method !== 'POST') return null
    const length = request.headers['content-length']
    if (length === undefined) return [411, 'The request has no Content-Length.']
    if (Number(length) > requestBytes) return [413, `The request is larger than ${requestBytes} bytes.`]
    const token = tokenOf(request)
    if (token === null || this.#streams.has(token)) return null
    return [404, 'This event stream is not open: open it before you send operations.']
  }
}

function tokenOf(request: IncomingMessage): string | null {
  const token = request.headers[tokenHeader]
  return typeof token === 'string' ? token : null
}

/**
 * The name of the stream that the caller has or gets. It ends in a fingerprint of the caller's Authorization, so that nobody sends results
 * into a stream of someone else.
 */
function streamToken(request: IncomingMessage): string | [string, { status: number; statusText: string }] {
  const fingerprint = createHash('sha256')
    .update(request.headers.authorization ?? '')
    .digest('base64url')
  const token = tokenOf(request) ?? `${randomUUID()}.${fingerprint}`
  if (token.endsWith(`.${fingerprint}`)) return token
  return ['This event stream belongs to another token.', { status: 403, statusText: 'Forbidden' }]
}

async function drained(response: ServerResponse): Promise<void> {
  const waited = new AbortController()
  const options = { signal: waited.signal }
  await Promise.race([once(response, 'drain', options), once(response, 'close', options)]).catch(() => undefined)
  waited.abort()
}
