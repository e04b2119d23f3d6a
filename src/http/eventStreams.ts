import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { type ExecutionResult, execute, type GraphQLSchema } from 'graphql'
import { createHandler, type Handler } from 'graphql-sse'
import { createContext, type Viewer } from '../graphql/kit/context.ts'
import { subscribe } from '../graphql/subscribe/subscribe.ts'
import type { ServerContext } from '../systems/serverContext.ts'
import { Documents } from './documents.ts'
import { maskError } from './maskError.ts'
import { mostBytesWaiting } from './socketSink.ts'
import { gated, StreamGate } from './streamGate.ts'

export const eventStreamPath = '/graphql/stream'

const requestBytes = 1_048_576
const tokenHeader = 'x-graphql-event-stream-token'

/** A response and what waits for its reader. */
interface EventStream {
  readonly response: ServerResponse
  readonly gate: StreamGate
}

/**
 * The protocol of graphql-sse: distinct connections, and the single connection mode, in which one event stream carries the results of
 * operations that are sent beside it. The library's own adapter for Node queues results without a bound; this one hands them to the response
 * at once, so that the response knows what waits: a subscription goes on only when it takes more, and a stream on which too much waits is cut.
 */
export class EventStreams {
  readonly #app: ServerContext
  readonly #handle: Handler<IncomingMessage, EventStream>
  readonly #viewers = new WeakMap<IncomingMessage, Viewer>()
  /** Open streams of the single connection mode, by their tokens. */
  readonly #streams = new Map<string, EventStream>()

  constructor(app: ServerContext, schema: GraphQLSchema) {
    this.#app = app
    const documents = new Documents(schema)
    this.#handle = createHandler<IncomingMessage, EventStream, Record<PropertyKey, unknown>>({
      authenticate: ({ raw }) => streamToken(raw),
      onConnect: ({ raw, context }) => this.#opened(raw, context),
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
      onOperation: async (_context, { raw, context }, _args, result) => {
        const results = await result
        return isGenerator(results) ? gated(results, (this.#streamOf(raw) ?? context).gate) : results
      },
      onNext: (_context, { raw, context }, result) => {
        this.#cutIfFull(this.#streamOf(raw) ?? context)
        return result.errors === undefined
          ? undefined
          : { ...result, errors: result.errors.map((error) => maskError(error, app.log)) }
      },
    })
  }

  async handle(request: IncomingMessage, response: ServerResponse, viewer: Viewer): Promise<void> {
    const refusal = this.#refusal(request)
    if (refusal === null) {
      this.#viewers.set(request, viewer)
      return this.#answer(request, response)
    }
    const [status, message] = refusal
    response
      .writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' })
      .end(JSON.stringify({ errors: [{ message }] }))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [body, { status, statusText, headers }] = await this.#handle({
      method: request.method ?? '',
      url: request.url ?? '',
      headers: { get: (name) => String(request.headers[name] ?? '') || null },
      body: () => text(request),
      raw: request,
      context: { response, gate: new StreamGate(response) },
    })
    // Kept, so that the server knows an event stream when it stops.
    for (const [name, value] of Object.entries(headers ?? {})) if (value !== undefined) response.setHeader(name, value)
    response.writeHead(status, statusText)
    if (body === null || typeof body === 'string') {
      response.end(body ?? '')
      return
    }
    const ended = () => void body.return()
    response.once('close', ended)
    if (response.destroyed) ended()
    for await (const event of body) response.write(event)
    response.end()
  }

  #opened(request: IncomingMessage, stream: EventStream): void {
    const token = tokenOf(request)
    if (token === null || this.#streams.has(token)) return
    this.#streams.set(token, stream)
    stream.response.once('close', () => this.#streams.delete(token))
  }

  /** Of the single connection mode: where the results of the operation go that this request sends. */
  #streamOf(request: IncomingMessage): EventStream | undefined {
    const token = tokenOf(request)
    return token === null ? undefined : this.#streams.get(token)
  }

  /** Its reader can come back with `after`: no end is told. */
  #cutIfFull({ response }: EventStream): void {
    if (response.writableLength <= mostBytesWaiting || response.destroyed) return
    this.#app.feed.counts.closed++
    response.destroy()
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

function isGenerator(results: object): results is AsyncGenerator<ExecutionResult, undefined, undefined> {
  return Symbol.asyncIterator in results
}
