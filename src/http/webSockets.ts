import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  type ExecutionArgs,
  type ExecutionResult,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLSchema,
} from 'graphql'
import { handleProtocols, makeServer, type Server } from 'graphql-ws'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { createContext, type Viewer } from '../graphql/kit/context.ts'
import type { Executed } from '../graphql/kit/resultSink.ts'
import { subscribe } from '../graphql/subscribe/subscribe.ts'
import type { ServerContext } from '../systems/serverContext.ts'
import { authenticate, tokenOf } from './authenticate.ts'
import { Documents } from './documents.ts'
import { executeOperation } from './executeOperation.ts'
import { maskError } from './maskError.ts'
import type { FullStream } from './slowReaders.ts'
import { SocketOperations } from './socketOperations.ts'
import { mostBytesWaiting, SocketDrain, SocketSink } from './socketSink.ts'
import type { SuspendDetector } from './suspendDetector.ts'

/** The largest message: a worker that registers reports all its replicas in one. */
const messageBytes = 4_194_304
/** How long a client may take until its connection_init. */
const initWithinMillis = 5_000
/** A socket that has not answered a ping when the next one is due is cut. */
const pingEveryMillis = 12_000
/** How long a client may take to answer a close when the server stops. */
const closeWithinMillis = 2_000

/** The codes that the server closes a socket with. graphql-ws itself uses 4408 (no connection_init), 4400 and 4429 as well. */
const closeCode = {
  internalError: 1011,
  restart: 1012,
  tryAgainLater: 1013,
  unauthorized: 4401,
  forbidden: 4403,
  slowReader: 4413,
} as const

const tokenIsMissing = 'Unauthorized: send connectionParams.authorization as "Bearer <token>".'
const tokenIsUnknown = 'Unauthorized: the server does not know this token.'
const tokenIsInvalid = 'Forbidden: the token is no longer valid.'

interface Connection extends Record<PropertyKey, unknown> {
  readonly socket: WebSocket
  readonly drain: SocketDrain
  readonly request: IncomingMessage
  operations: SocketOperations | null
  viewer: Viewer | null
  /** Ends the following of the token, which cuts the socket when the token is no longer valid. */
  unfollow: () => void
}

/** What differs between paths when a client connects. */
export interface SocketGate {
  /** What the acknowledgement of a connection says. */
  greeting(app: ServerContext): Record<string, unknown> | true
  /** Called for a client whose token is not known. */
  refused(app: ServerContext, params: Readonly<Record<string, unknown>>, request: IncomingMessage): void
}

const openGate: SocketGate = { greeting: () => true, refused: () => undefined }

/** GraphQL over WebSockets, by the protocol graphql-transport-ws. */
export class WebSockets {
  readonly #app: ServerContext
  readonly #server: WebSocketServer
  readonly #protocol: Server<Connection>
  readonly #suspendDetector: SuspendDetector

  constructor(
    app: ServerContext,
    schema: GraphQLSchema,
    suspendDetector: SuspendDetector,
    gate: SocketGate = openGate,
  ) {
    this.#app = app
    this.#suspendDetector = suspendDetector
    this.#server = new WebSocketServer({ noServer: true, maxPayload: messageBytes, handleProtocols })
    this.#protocol = makeProtocol(app, schema, gate)
  }

  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, stream, head, (socket) => this.#openConnection(socket, stream, request))
  }

  /** Closes all sockets with 1012 (service restart), so that clients come back. Nothing more is taken from them. */
  closeForRestart(): void {
    for (const socket of this.#server.clients) socket.close(closeCode.restart, 'The server restarts: connect again.')
  }

  /** Closes all sockets for the last time, and cuts those whose clients do not answer. */
  async stop(): Promise<void> {
    const closed = [...this.#server.clients].map((socket) => new Promise((resolve) => socket.once('close', resolve)))
    this.closeForRestart()
    const cut = setTimeout(() => {
      for (const socket of this.#server.clients) socket.terminate()
    }, closeWithinMillis)
    await Promise.all(closed)
    clearTimeout(cut)
    this.#server.close()
  }

  #openConnection(socket: WebSocket, stream: Duplex, request: IncomingMessage): void {
    const connection: Connection = {
      socket,
      drain: new SocketDrain(stream, this.#app.feed.waiting, slowReaderOf(socket)),
      request,
      operations: null,
      viewer: null,
      unfollow: () => undefined,
    }
    const closed = this.#protocol.opened(
      {
        protocol: socket.protocol,
        // This resolves when the bytes have left, because a subscription makes its next frame only then.
        send: (data) =>
          new Promise((resolve) => {
            if (socket.readyState !== socket.OPEN) return resolve()
            socket.send(data, () => resolve())
            if (socket.bufferedAmount <= mostBytesWaiting) return
            this.#app.feed.counts.closed++
            slowReaderOf(socket).closeSlow()
          }),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (handle) => {
          const mask = (error: unknown) => maskError(error, this.#app.log)
          const operations = new SocketOperations({ socket, handle, mask })
          connection.operations = operations
          socket.on('message', (data: RawData) => void this.#takeMessage(socket, operations, String(data)))
        },
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
    // ws itself closes the socket after a broken frame or connection, and `close` follows.
    socket.on('error', (error) => this.#app.log.debug({ err: error }, 'A WebSocket failed'))
    socket.once('close', (code, reason) => {
      clearInterval(ping)
      connection.unfollow()
      void closed(code, String(reason))
    })
  }

  async #takeMessage(socket: WebSocket, operations: SocketOperations, data: string): Promise<void> {
    // A process that was stopped for long may find that out only now, and closes the socket in this call.
    this.#suspendDetector.isWaking()
    if (socket.readyState !== socket.OPEN) return
    try {
      await operations.take(data)
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

function makeProtocol(app: ServerContext, schema: GraphQLSchema, gate: SocketGate): Server<Connection> {
  const documents = new Documents(schema)
  const withMaskedErrors = (result: ExecutionResult): FormattedExecutionResult => {
    const { errors, ...rest } = result
    return errors === undefined ? rest : { ...rest, errors: errors.map((error) => maskError(error, app.log).toJSON()) }
  }
  /** Writes what follows the payload's data in a message `next`. */
  const endingOf = ({ errors }: Executed) =>
    Buffer.from(errors.length === 0 ? '}}' : `,"errors":${JSON.stringify(withMaskedErrors({ errors }).errors)}}}`)
  return makeServer<Record<string, unknown>, Connection>({
    connectionInitWaitTimeout: initWithinMillis,
    onConnect: async ({ connectionParams, extra }) => {
      const params = connectionParams ?? {}
      const authorization = params['authorization'] ?? params['Authorization'] ?? extra.request.headers.authorization
      try {
        extra.viewer = await authenticate(app, authorization)
      } catch (error) {
        maskError(error, app.log)
        extra.socket.close(closeCode.tryAgainLater, 'The token could not be checked: try again later.')
        return false
      }
      const { viewer, socket } = extra
      if (viewer === null) {
        gate.refused(app, params, extra.request)
        socket.close(closeCode.unauthorized, tokenOf(authorization) === null ? tokenIsMissing : tokenIsUnknown)
      }
      // The socket may have closed meanwhile, and nothing would end the following of the token then.
      else if (socket.readyState !== socket.OPEN) return false
      // The socket closes after this turn, so that operations end first, each with its own error.
      else
        extra.unfollow = app.sessions.follow(
          viewer,
          () => void setImmediate(() => socket.close(closeCode.forbidden, tokenIsInvalid)),
        )
      return viewer !== null && gate.greeting(app)
    },
    onSubscribe: ({ extra }, id, payload): ExecutionArgs | readonly GraphQLError[] => {
      const checked = documents.checkOperation(payload.query, payload.operationName)
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
    execute: executeOperation,
    subscribe,
    onNext: (_context, _id, _payload, _args, result) => withMaskedErrors(result as ExecutionResult),
    onError: ({ extra }, id, _payload, errors) => {
      extra.operations?.markOver(id)
      return errors.map((error) => (error instanceof GraphQLError ? maskError(error, app.log).toJSON() : error))
    },
    onComplete: ({ extra }, id) => extra.operations?.markOver(id),
  })
}
