import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { GraphQLError, GraphQLSchema } from 'graphql'
import type { Viewer } from '../graphql/kit/context.ts'
import { statusOf } from '../graphql/kit/errorCodes.ts'
import { requestError, unauthenticated } from '../graphql/kit/requestErrors.ts'
import type { ServerContext } from '../systems/serverContext.ts'
import { authenticate } from './authenticate.ts'
import { Documents } from './documents.ts'
import { EventStreams, eventStreamPath } from './eventStreams.ts'
import { GraphiqlPage } from './graphiqlPage.ts'
import { GraphqlRoute } from './graphqlRoute.ts'
import { unreadiness } from './health.ts'
import { maskError } from './maskError.ts'
import type { Metrics } from './metrics.ts'
import { sendMetrics } from './metricsPage.ts'
import { sendJson } from './sendJson.ts'
import { SuspendDetector } from './suspendDetector.ts'
import { WebSockets } from './webSockets.ts'

const finishWithinMillis = 5_000

/** Everything that the server says over its one port: GraphQL, GraphiQL and health. */
export class HttpServer {
  readonly #app: ServerContext
  readonly #metrics: Metrics
  readonly #graphql: GraphqlRoute
  readonly #streams: EventStreams
  readonly #page = new GraphiqlPage()
  readonly #sockets: WebSockets
  readonly #sleep: SuspendDetector
  readonly #server: Server
  readonly #responses = new Set<ServerResponse>()
  #stopping = false

  constructor(app: ServerContext, schema: GraphQLSchema, metrics: Metrics) {
    this.#app = app
    this.#metrics = metrics
    const documents = new Documents(schema)
    this.#streams = new EventStreams(app, schema, documents)
    this.#graphql = new GraphqlRoute(app, schema, documents, this.#streams)
    this.#sleep = new SuspendDetector(() => {
      app.log.warn('This process was stopped for long: what waited for it is not taken, and clients connect again.')
      this.#sockets.restart()
    })
    this.#sockets = new WebSockets(app, schema, this.#sleep)
    this.#server = createServer((request, response) => void this.#request(request, response))
    this.#server.on('upgrade', (request, stream, head) => this.#upgrade(request, stream, head))
  }

  /** Resolves to the port; rejects with EADDRINUSE and the like. */
  async listen(host: string, port: number): Promise<number> {
    this.#server.listen(port, host)
    await once(this.#server, 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  /**
   * Takes nothing new, closes WebSockets with 1012 and cuts event streams without a complete event, which clients would take as final
   * (R16). Requests under way may finish.
   */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#sleep.stop()
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    await this.#sockets.stop()
    for (const response of this.#responses) {
      if (String(response.getHeader('content-type')).startsWith('text/event-stream')) response.socket?.destroy()
    }
    this.#server.closeIdleConnections()
    const cut = setTimeout(() => this.#server.closeAllConnections(), finishWithinMillis)
    await closed
    clearTimeout(cut)
  }

  async #request(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#responses.add(response)
    response.once('close', () => this.#responses.delete(response))
    if (this.#stopping) response.setHeader('Connection', 'close')
    if (this.#sleep.isWaking()) {
      response.setHeader('Connection', 'close')
      return sendError(
        response,
        requestError('UNAVAILABLE', 'This server was stopped for a while and wakes: send it again.'),
      )
    }
    try {
      await this.#route(request, response)
    } catch (error) {
      const shown = maskError(error, this.#app.log)
      if (response.headersSent) response.socket?.destroy()
      else sendError(response, shown)
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request)
    switch (path) {
      case '/graphql':
        if (GraphiqlPage.isVisit(request)) return this.#page.send(request, response)
        return this.#authenticated(request, response, (viewer) => this.#graphql.handle(request, response, viewer))
      case eventStreamPath:
        return this.#authenticated(request, response, (viewer) => this.#streams.handle(request, response, viewer))
      case '/healthz':
        return sendText(response, 200, 'The server is alive.')
      case '/readyz': {
        const reason = this.#stopping ? 'The server is stopping.' : await unreadiness(this.#app)
        return sendText(response, reason === null ? 200 : 503, reason ?? 'The server is ready.')
      }
      case '/metrics':
        return sendMetrics(this.#app, this.#metrics, request, response)
      case '/':
        response.writeHead(302, { Location: '/graphql' }).end()
        return
      default:
        return sendText(response, 404, `There is nothing at ${path}: the API and GraphiQL are at /graphql.`)
    }
  }

  async #authenticated(
    request: IncomingMessage,
    response: ServerResponse,
    handle: (viewer: Viewer) => Promise<void> | void,
  ): Promise<void> {
    const viewer = await authenticate(this.#app, request.headers.authorization)
    if (viewer !== null) return handle(viewer)
    response.setHeader('WWW-Authenticate', 'Bearer')
    sendError(response, unauthenticated())
  }

  #upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    if (pathOf(request) === '/graphql' && !this.#stopping) {
      this.#sockets.upgrade(request, stream, head)
      return
    }
    stream.on('error', () => stream.destroy())
    stream.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
  }
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/'
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
}

/** The whole answer is one error. */
function sendError(response: ServerResponse, { message, extensions: { http: _, ...extensions } }: GraphQLError): void {
  sendJson(response, statusOf(extensions['code']), { errors: [{ message, extensions }] })
}
