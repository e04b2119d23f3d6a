import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ExecutionResult, GraphQLSchema } from 'graphql'
import { createHandler, type Handler } from 'graphql-sse'
import { createContext, type Viewer } from '../graphql/kit/context.ts'
import type { RequestErrorCode } from '../graphql/kit/errorCodes.ts'
import { requestError } from '../graphql/kit/requestErrors.ts'
import { subscribe } from '../graphql/subscribe/subscribe.ts'
import type { ServerContext } from '../systems/serverContext.ts'
import { acceptedTypes, isNamed } from './acceptHeader.ts'
import { eventStreamType, jsonTypes } from './answerForms.ts'
import type { Documents } from './documents.ts'
import { executeOperation } from './executeOperation.ts'
import { maskError } from './maskError.ts'
import { readBody, sendTooLarge } from './requestBody.ts'
import { sendError, sendJson } from './sendJson.ts'
import { mostBytesWaiting } from './socketSink.ts'
import { gated, StreamGate } from './streamGate.ts'
import { operationIdOf, StreamOperations, type StreamRequest, withOperationId } from './streamOperations.ts'

export const eventStreamPath = '/graphql/stream'

/** The library tells its refusals apart by their status only. */
const refusalCodes: ReadonlyMap<number, RequestErrorCode> = new Map([
  [403, 'STREAM_FORBIDDEN'],
  [404, 'STREAM_NOT_OPEN'],
  [405, 'METHOD_NOT_ALLOWED'],
  [406, 'NOT_ACCEPTABLE'],
  [409, 'STREAM_CONFLICT'],
  [415, 'UNSUPPORTED_MEDIA_TYPE'],
])

const tokenHeader = 'x-graphql-event-stream-token'

/** A response, and the gate that keeps results back while its reader is slow. */
interface EventStream {
  readonly response: ServerResponse
  readonly gate: StreamGate
  /** It names a stream of the single connection mode; null where an operation has a stream of its own. */
  readonly token: string | null
  readonly operations: StreamOperations
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

  constructor(app: ServerContext, schema: GraphQLSchema, documents: Documents) {
    this.#app = app
    this.#handle = createHandler<IncomingMessage, EventStream, Record<PropertyKey, unknown>>({
      authenticate: ({ raw, context }) => streamToken(raw, context.token),
      onConnect: ({ context }) => this.#keepStream(context),
      onSubscribe: ({ raw }, { query, operationName, variables }) => {
        const checked = documents.checkOperation(query, operationName)
        if ('errors' in checked) return { data: null, errors: checked.errors }
        const contextValue = { ...createContext(app, this.#viewers.get(raw) ?? null) }
        return { schema, document: checked.document, operationName, variableValues: variables, contextValue }
      },
      // The documents have been checked.
      validate: () => [],
      execute: executeOperation,
      subscribe,
      onOperation: async (_context, { context }, _args, result) => {
        const results = await result
        return isGenerator(results) ? gated(results, this.#resultsOf(context).gate) : results
      },
      onNext: (_context, { context }, result) => {
        this.#cutIfFull(this.#resultsOf(context))
        return result.errors === undefined
          ? undefined
          : { ...result, errors: result.errors.map((error) => maskError(error, app.log)) }
      },
    })
  }

  /** Answers a request to the protocol's own path, in either mode. */
  async handle(request: IncomingMessage, response: ServerResponse, viewer: Viewer): Promise<void> {
    const token = tokenOf(request)
    const form = formFor(request, token)
    if (form === null) {
      const message = `The header Accept takes nothing that is answered here: ${eventStreamType}, or application/json for operations on an open stream.`
      return sendError(response, requestError('NOT_ACCEPTABLE', message))
    }
    // The library knows no list of media types.
    request.headers.accept = form
    const stream = token === null ? undefined : this.#streams.get(token)
    const { method, headers } = request
    const isOperation = method === 'POST' || (method === 'GET' && headers.accept !== eventStreamType)
    // The library queues results for a stream that nobody reads.
    if (token !== null && isOperation && stream === undefined)
      return sendRefusal(response, 404, 'This event stream is not open: open it before you send operations.')
    const body = method === 'POST' ? await readBody(request) : ''
    if (body === null) return sendTooLarge(response)
    const asked = { url: request.url ?? '', body }
    const id = stream === undefined ? null : operationIdOf(request, asked)
    if (stream === undefined || id === null) return this.#answer(request, response, viewer, asked, token)
    const { operations } = stream
    if (method === 'DELETE') {
      const ended = operations.end(id)
      const renamed = ended === null ? asked : withOperationId(request, asked, ended)
      return this.#answer(request, response, viewer, renamed, token)
    }
    if (!isOperation) return this.#answer(request, response, viewer, asked, token)
    const number = operations.begin(id)
    if (number === null)
      return sendRefusal(response, 409, `An operation with the id ${id} goes on: end it, or give this one another id.`)
    let isTaken = false
    try {
      await this.#answer(request, response, viewer, withOperationId(request, asked, number), token)
      isTaken = response.statusCode === 202
    } finally {
      if (!isTaken) operations.endNumber(number)
    }
  }

  /** Answers one operation with an event stream of its own: a distinct connection. */
  answerOne(request: IncomingMessage, response: ServerResponse, viewer: Viewer, body: string): Promise<void> {
    // The library knows no list of media types: whoever calls this has found that the caller takes events.
    request.headers.accept = eventStreamType
    return this.#answer(request, response, viewer, { url: request.url ?? '', body }, null)
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    viewer: Viewer,
    { url, body }: StreamRequest,
    token: string | null,
  ): Promise<void> {
    this.#viewers.set(request, viewer)
    const operations = new StreamOperations()
    const [answer, { status, statusText, headers }] = await this.#handle({
      method: request.method ?? '',
      url,
      headers: { get: (name) => String(request.headers[name] ?? '') || null },
      body,
      raw: request,
      context: { response, gate: new StreamGate(response, this.#app.feed.waiting), token, operations },
    })
    // The library refuses some requests without a word.
    if (answer === null && status >= 400) return sendRefusal(response, status, `${statusText}.`)
    if (typeof answer === 'string' && status >= 400) return sendRefusal(response, status, messageOf(answer))
    // The headers are set one by one, so that the server knows an event stream by them when it stops.
    for (const [name, value] of Object.entries(headers ?? {})) if (value !== undefined) response.setHeader(name, value)
    response.writeHead(status, statusText)
    if (answer === null || typeof answer === 'string') {
      response.end(answer ?? '')
      return
    }
    const endOperation = () => void answer.return()
    response.once('close', endOperation)
    if (response.destroyed) endOperation()
    for await (const event of answer) {
      const renamed = operations.rename(event)
      if (renamed !== null) response.write(renamed)
    }
    response.end()
  }

  #keepStream(stream: EventStream): void {
    const { token, response } = stream
    if (token === null || this.#streams.has(token)) return
    this.#streams.set(token, stream)
    response.once('close', () => this.#streams.delete(token))
  }

  /** The stream that the results of a request's operation go into: in the single connection mode not its own. */
  #resultsOf(stream: EventStream): EventStream {
    return (stream.token === null ? undefined : this.#streams.get(stream.token)) ?? stream
  }

  /** Cuts a stream on which too much waits. No end is sent, so that its reader comes back with `after`. */
  #cutIfFull({ response }: EventStream): void {
    if (response.writableLength <= mostBytesWaiting || response.destroyed) return
    this.#app.feed.counts.closed++
    response.destroy()
  }
}

/** The form of the answer, as the library takes it in the header Accept; null where the caller takes none that fits. */
function formFor({ method, headers: { accept } }: IncomingMessage, token: string | null): string | null {
  if (method === 'DELETE') return '*/*'
  if (method === 'PUT') return acceptedTypes(accept, ['text/plain'])[0] ?? null
  const events = acceptedTypes(accept, [eventStreamType])[0] ?? null
  // Without a token an operation has a stream of its own. With one, who names events opens the stream, and others send operations.
  if (token === null || (accept !== undefined && isNamed(accept, eventStreamType))) return events
  return acceptedTypes(accept, jsonTypes).length > 0 ? 'application/json' : null
}

function tokenOf(request: IncomingMessage): string | null {
  const token = request.headers[tokenHeader]
  return typeof token === 'string' ? token : null
}

/**
 * The name of the stream that the caller has or gets. It ends in a fingerprint of the caller's Authorization, so that nobody sends results
 * into a stream of someone else.
 */
function streamToken(
  request: IncomingMessage,
  named: string | null,
): string | [string, { status: number; statusText: string }] {
  const fingerprint = createHash('sha256')
    .update(request.headers.authorization ?? '')
    .digest('base64url')
  const token = named ?? `${randomUUID()}.${fingerprint}`
  if (token.endsWith(`.${fingerprint}`)) return token
  return ['This event stream belongs to another token.', { status: 403, statusText: 'Forbidden' }]
}

function isGenerator(results: object): results is AsyncGenerator<ExecutionResult, undefined, undefined> {
  return Symbol.asyncIterator in results
}

function sendRefusal(response: ServerResponse, status: number, message: string): void {
  const code = refusalCodes.get(status) ?? 'BAD_REQUEST'
  sendJson(response, status, { errors: [{ message, extensions: { code } }] })
}

/** Returns the sentence of a refusal that the library wrote, as JSON or as text. */
function messageOf(answer: string): string {
  try {
    const { errors } = JSON.parse(answer) as { readonly errors: readonly { readonly message: string }[] }
    return errors.map(({ message }) => message).join(' ')
  } catch {
    return answer
  }
}
