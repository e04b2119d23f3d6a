import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { GraphQLSchema } from 'graphql'
import type { Viewer } from '../graphql/kit/context.ts'
import { requestError } from '../graphql/kit/requestErrors.ts'
import type { ServerContext } from '../systems/serverContext.ts'
import { authenticate, tokenRefusal } from './authenticate.ts'
import { Documents } from './documents.ts'
import { EventStreams, eventStreamPath } from './eventStreams.ts'
import { GraphiqlPage } from './graphiqlPage.ts'
import { GraphqlRoute } from './graphqlRoute.ts'
import { unreadiness } from './health.ts'
import { maskError } from './maskError.ts'
import type { Metrics } from './metrics.ts'
import { sendMetrics } from './metricsPage.ts'
import { refuseRequest } from './requestRefusal.ts'
import { possibleTypesPath, SchemaFiles, schemaPath } from './schemaFiles.ts'
import { sendError } from './sendJson.ts'
import { SuspendDetector } from './suspendDetector.ts'
import { WebSockets } from './webSockets.ts'
import { workerGate } from './workerGate.ts'

/** How long requests under way may take when the server stops. */
const finishWithinMillis = 5_000

const apiPath = '/graphql'
const workerPath = '/worker'

/** What the server executes: the API of users, and the worker's protocol. */
export interface Schemas {
  readonly users: GraphQLSchema
  readonly workers: GraphQLSchema
}

/** What may be asked of each path. OPTIONS is answered for all of them, without a token. */
const methodsOf = new Map<string, readonly string[]>([
  [apiPath, ['GET', 'HEAD', 'POST', 'OPTIONS']],
  [workerPath, ['POST', 'OPTIONS']],
  [eventStreamPath, ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']],
  ...['/', '/healthz', '/readyz', '/metrics', schemaPath, possibleTypesPath].map((path): [string, string[]] => [
    path,
    ['GET', 'HEAD', 'OPTIONS'],
  ]),
])

/** The server's one port: GraphQL over all transports, GraphiQL, health and metrics. */
export class HttpServer {
  readonly #app: ServerContext
  readonly #metrics: Metrics
  readonly #graphql: GraphqlRoute
  readonly #worker: GraphqlRoute
  readonly #streams: EventStreams
  readonly #page = new GraphiqlPage()
  readonly #files: SchemaFiles
  readonly #sockets: ReadonlyMap<string, WebSockets>
  readonly #suspendDetector: SuspendDetector
  readonly #server: Server
  readonly #connections = new Set<Socket>()
  readonly #responses = new Set<ServerResponse>()
  #stopping = false

  constructor(app: ServerContext, { users, workers }: Schemas, metrics: Metrics) {
    this.#app = app
    this.#metrics = metrics
    this.#files = new SchemaFiles(users)
    const documents = new Documents(users)
    this.#streams = new EventStreams(app, users, documents)
    this.#graphql = new GraphqlRoute(app, { path: apiPath, schema: users, documents, streams: this.#streams })
    const ofWorkers = new Documents(workers)
    this.#worker = new GraphqlRoute(app, {
      path: workerPath,
      schema: workers,
      documents: ofWorkers,
      streams: new EventStreams(app, workers, ofWorkers),
    })
    this.#suspendDetector = new SuspendDetector(() => {
      app.log.warn(
        'This process was stopped for long: it takes nothing that waited meanwhile, and clients connect again.',
      )
      for (const sockets of this.#sockets.values()) sockets.closeForRestart()
    })
    this.#sockets = new Map([
      [apiPath, new WebSockets(app, users, this.#suspendDetector)],
      [workerPath, new WebSockets(app, workers, this.#suspendDetector, workerGate)],
    ])
    this.#server = createServer((request, response) => void this.#handleRequest(request, response))
    this.#server.keepAliveTimeout = app.config.keepAliveSeconds * 1_000
    this.#server.on('connection', (socket) => {
      this.#connections.add(socket)
      socket.once('close', () => this.#connections.delete(socket))
    })
    this.#server.on('upgrade', (request, stream, head) => this.#upgradeRequest(request, stream, head))
  }

  /** Resolves to the port; rejects with EADDRINUSE and the like. */
  async listen(host: string, port: number): Promise<number> {
    this.#server.listen(port, host)
    await once(this.#server, 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  /**
   * Takes nothing new, closes WebSockets with 1012 and cuts event streams without a complete event, which clients would take as final
   * (R16). Requests under way may finish, and each connection is closed as soon as it is idle.
   */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#suspendDetector.stop()
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const response of this.#responses) closeAfterwards(response)
    // Browsers and proxies open connections ahead of their requests, and Node takes such a one for busy until its first byte.
    for (const connection of this.#connections) if (connection.bytesRead === 0) connection.destroy()
    await Promise.all([...this.#sockets.values()].map((sockets) => sockets.stop()))
    for (const response of this.#responses) {
      if (String(response.getHeader('content-type')).startsWith('text/event-stream')) response.socket?.destroy()
    }
    this.#server.closeIdleConnections()
    const cut = setTimeout(() => this.#server.closeAllConnections(), finishWithinMillis)
    await closed
    clearTimeout(cut)
  }

  async #handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#responses.add(response)
    response.once('close', () => {
      this.#responses.delete(response)
      // Of an answer whose head was sent before the stop, the connection is kept alive.
      if (this.#stopping) this.#server.closeIdleConnections()
    })
    if (this.#stopping) closeAfterwards(response)
    if (this.#suspendDetector.isWaking()) {
      closeAfterwards(response)
      const message = 'This server was stopped for a while and has only just woken: send the request again.'
      return sendError(response, requestError('UNAVAILABLE', message))
    }
    try {
      await this.#routeRequest(request, response)
    } catch (error) {
      const shown = maskError(error, this.#app.log)
      if (response.headersSent) response.socket?.destroy()
      else sendError(response, shown)
    }
  }

  async #routeRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request)
    const methods = methodsOf.get(path)
    if (request.method === 'OPTIONS' && methods !== undefined) {
      response.writeHead(204, { Allow: methods.join(', ') }).end()
      return
    }
    switch (path) {
      case apiPath: {
        if (GraphiqlPage.isVisit(request)) return this.#page.send(request, response)
        const viewer = await this.#admit(request, response, ['GET', 'POST'])
        return viewer === null ? undefined : this.#graphql.handle(request, response, viewer)
      }
      case workerPath: {
        const viewer = await this.#admit(request, response, ['POST'])
        return viewer === null ? undefined : this.#worker.handle(request, response, viewer)
      }
      case eventStreamPath: {
        const viewer = await this.#admit(request, response, methods ?? [])
        return viewer === null ? undefined : this.#streams.handle(request, response, viewer)
      }
      case schemaPath:
        return this.#files.sendSchema(request, response)
      case possibleTypesPath:
        return this.#files.sendPossibleTypes(request, response)
      case '/healthz':
        return sendText(response, 200, 'The server is alive.')
      case '/readyz': {
        const reason = this.#stopping ? 'The server is stopping.' : await unreadiness(this.#app)
        return sendText(response, reason === null ? 200 : 503, reason ?? 'The server is ready.')
      }
      case '/metrics':
        return sendMetrics(this.#app, this.#metrics, request, response)
      case '/':
        response.writeHead(302, { Location: apiPath }).end()
        return
      default:
        return sendText(response, 404, `There is nothing at ${path}: the API and GraphiQL are at ${apiPath}.`)
    }
  }

  /** Who asks; null where the request was refused. */
  async #admit(request: IncomingMessage, response: ServerResponse, methods: readonly string[]): Promise<Viewer | null> {
    const { authorization } = request.headers
    const viewer = await authenticate(this.#app, authorization)
    const refusal = viewer === null ? tokenRefusal(authorization) : refuseRequest(request, methods)
    if (refusal === null) return viewer
    sendError(response, refusal)
    return null
  }

  #upgradeRequest(request: IncomingMessage, stream: Duplex, firstBytes: Buffer): void {
    const sockets = this.#sockets.get(pathOf(request))
    if (sockets !== undefined && !this.#stopping) {
      sockets.upgrade(request, stream, firstBytes)
      return
    }
    const [status, text] = this.#stopping
      ? ['503 Service Unavailable', 'The server is stopping: connect to another one, or again in a moment.\n']
      : [
          '404 Not Found',
          'There is no WebSocket here: GraphQL over a WebSocket is at /graphql, and the protocol of workers at /worker.\n',
        ]
    const head = ['Connection: close', 'Content-Type: text/plain; charset=utf-8', `Content-Length: ${text.length}`]
    stream.on('error', () => stream.destroy())
    stream.end([`HTTP/1.1 ${status}`, ...head, '', text].join('\r\n'))
  }
}

/** Has a response close its connection, which is all that can be done before its head is sent. */
function closeAfterwards(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close')
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/'
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
}
