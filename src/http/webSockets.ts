import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLSchema,
} from 'graphql'
import { handleProtocols, makeServer, type Server } from 'graphql-ws'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { createContext, type Viewer } from '../graphql/kit/context.ts'
import type { Executed } from '../graphql/kit/resultSink.ts'
import { subscribe } from '../graphql/subscribe/subscribe.ts'
import { hostNameFault } from '../model/name.ts'
import { type Greeting, serverProtocols } from '../model/workerProtocol.ts'
import type { ServerContext } from '../systems/serverContext.ts'
import { authenticate } from './authenticate.ts'
import { Documents } from './documents.ts'
import { maskError } from './maskError.ts'
import type { FullStream } from './slowReaders.ts'
import { mostBytesWaiting, SocketDrain, SocketSink } from './socketSink.ts'
import type { SuspendDetector } from './suspendDetector.ts'

/** A worker tells all its replicas in one message when it registers. */
const messageBytes = 4_194_304
const initWithinMillis = 5_000
const pingEveryMillis = 12_000
const closeWithinMillis = 2_000

/** Codes of a close by the server. 4408 (no connection_init), 4400 and 4409 are graphql-ws' own. */
const closeCode = {
  internalError: 1011,
  restart: 1012,
  tryAgainLater: 1013,
  unauthorized: 4401,
  forbidden: 4403,
  slowReader: 4413,
} as const

const tokenIsInvalid = 'Forbidden: the token is no longer valid.'

interface Connection extends Record<PropertyKey, unknown> {
  readonly socket: WebSocket
  readonly drain: SocketDrain
  readonly request: IncomingMessage
  viewer: Viewer | null
  /** Stops following the token. */
  unfollow: () => void
}

/** GraphQL over WebSockets, by the protocol graphql-transport-ws. */
export class WebSockets {
  readonly #app: ServerContext
  readonly #server: WebSocketServer
  readonly #protocol: Server<Connection>
  readonly #sleep: SuspendDetector

  constructor(app: ServerContext, schema: GraphQLSchema, sleep: SuspendDetector) {
    this.#app = app
    this.#sleep = sleep
    this.#server = new WebSocketServer({ noServer: true, maxPayload: messageBytes, handleProtocols })
    this.#protocol = makeProtocol(app, schema)
  }

  get open(): number {
    return this.#server.clients.size
  }

  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, stream, head, (socket) => this.#opened(socket, stream, request))
  }

  /** Closes all that are open with 1012 (service restart), so that clients come back. What they have sent is not taken any more. */
  restart(): void {
    for (const socket of this.#server.clients) socket.close(closeCode.restart, 'The server restarts: connect again.')
  }

  /** The same for the last time; those that do not answer are cut. */
  async stop(): Promise<void> {
    const closed = [...this.#server.clients].map((socket) => new Promise((resolve) => socket.once('close', resolve)))
    this.restart()
    const cut = setTimeout(() => {
      for (const socket of this.#server.clients) socket.terminate()
    }, closeWithinMillis)
    await Promise.all(closed)
    clearTimeout(cut)
    this.#server.close()
  }

  #opened(socket: WebSocket, stream: Duplex, request: IncomingMessage): void {
    const connection: Connection = {
      socket,
      drain: new SocketDrain(stream, this.#app.feed.waiting, slowReaderOf(socket)),
      request,
      viewer: null,
      unfollow: () => undefined,
    }
    const closed = this.#protocol.opened(
      {
        protocol: socket.protocol,
        // Resolves when the bytes have left: a subscription makes its next frame only then.
        send: (data) =>
          new Promise((resolve) => {
            if (socket.readyState !== socket.OPEN) return resolve()
            socket.send(data, () => resolve())
            if (socket.bufferedAmount <= mostBytesWaiting) return
            this.#app.feed.counts.closed++
            slowReaderOf(socket).closeSlow()
          }),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (handle) =>
          socket.on('message', (data: RawData) => void this.#message(socket, handle, String(data))),
      },
      connection,
    )
    let answered = true
    const ping = setInterval(() => {
      if (!answered) return socket.terminate()
      answered = false
      socket.ping()
    }, pingEveryMillis)
    socket.on('pong', () => {
      answered = true
    })
    // A broken frame or connection: ws closes the socket itself, and `close` follows.
    socket.on('error', (error) => this.#app.log.debug({ err: error }, 'A WebSocket failed'))
    socket.once('close', (code, reason) => {
      clearInterval(ping)
      connection.unfollow()
      void closed(code, String(reason))
    })
  }

  async #message(socket: WebSocket, handle: (data: string) => Promise<void>, data: string): Promise<void> {
    // Where this is found to wake only now, the socket closes here.
    this.#sleep.isWaking()
    if (socket.readyState !== socket.OPEN) return
    try {
      await handle(data)
    } catch (error) {
      const { message } = maskError(error, this.#app.log)
      socket.close(closeCode.internalError, message.slice(0, 120))
    }
  }
}

function slowReaderOf(socket: WebSocket): FullStream {
  return {
    get waitingBytes() {
      return socket.bufferedAmount
    },
    closeSlow: () => socket.close(closeCode.slowReader, 'Too many bytes wait: read faster, and resume with `after`.'),
  }
}

function greetingOf({ config: { leaseSeconds, graceSeconds } }: ServerContext): Greeting & Record<string, unknown> {
  return { workerProtocol: serverProtocols, workerLease: { leaseSeconds, graceSeconds } }
}

/** A worker says its name when it connects. */
function tellOfWorker(app: ServerContext, worker: unknown, request: IncomingMessage): void {
  if (typeof worker !== 'string' || hostNameFault(worker) !== null) return
  const why =
    "Its token is not known here: copy this server's worker-token to the file that its XCE_WORKER_TOKEN_FILE names."
  app.workerRefusals.tell({ worker, address: request.socket.remoteAddress }, why)
}

function makeProtocol(app: ServerContext, schema: GraphQLSchema): Server<Connection> {
  const documents = new Documents(schema)
  const shown = (result: ExecutionResult): FormattedExecutionResult => {
    const { errors, ...rest } = result
    return errors === undefined ? rest : { ...rest, errors: errors.map((error) => maskError(error, app.log).toJSON()) }
  }
  /** The rest of a message `next` after the payload's data. */
  const endingOf = ({ errors }: Executed) =>
    Buffer.from(errors.length === 0 ? '}}' : `,"errors":${JSON.stringify(shown({ errors }).errors)}}}`)
  return makeServer<Record<string, unknown>, Connection>({
    connectionInitWaitTimeout: initWithinMillis,
    onConnect: async ({ connectionParams, extra }) => {
      try {
        const params = connectionParams ?? {}
        extra.viewer = await authenticate(
          app,
          params['authorization'] ?? params['Authorization'] ?? extra.request.headers.authorization,
        )
      } catch (error) {
        maskError(error, app.log)
        extra.socket.close(closeCode.tryAgainLater, 'The token could not be checked: try again later.')
        return false
      }
      const { viewer, socket } = extra
      if (viewer === null) {
        tellOfWorker(app, connectionParams?.['worker'], extra.request)
        socket.close(closeCode.unauthorized, 'Unauthorized: send connectionParams.authorization.')
      }
      // It may have closed meanwhile: then nothing ends what would be followed now.
      else if (socket.readyState !== socket.OPEN) return false
      // Operations end first, each with its own error.
      else
        extra.unfollow = app.sessions.follow(
          viewer,
          () => void setImmediate(() => socket.close(closeCode.forbidden, tokenIsInvalid)),
        )
      return viewer !== null && greetingOf(app)
    },
    onSubscribe: ({ extra }, id, payload): ExecutionArgs | readonly GraphQLError[] => {
      const checked = documents.check(payload.query)
      if ('errors' in checked) return checked.errors
      return {
        schema,
        document: checked.document,
        operationName: payload.operationName,
        variableValues: payload.variables,
        contextValue: {
          ...createContext(app, extra.viewer),
          sink: new SocketSink(extra.socket, extra.drain, id, endingOf),
        },
      }
    },
    execute,
    subscribe,
    onNext: (_context, _id, _payload, _args, result) => shown(result as ExecutionResult),
    onError: (_context, _id, _payload, errors) =>
      errors.map((error) => (error instanceof GraphQLError ? maskError(error, app.log).toJSON() : error)),
  })
}
