import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

const defaultTabs = [
  {
    headers: '{\n  "Authorization": "Bearer "\n}',
    query: `# Paste a token into the headers below; the first start wrote one to the data directory, in admin-token.
query Services {
  services {
    nodes { name status desiredReplicas readyReplicas blockers { reason message } }
  }
}
`,
  },
]

interface Page {
  readonly etag: string
  readonly plain: Buffer
  readonly gzipped: Buffer
}

/** GraphiQL, whole from this server: one page of some 9 MB, made and compressed at the first visit. It loads without a token. */
export class GraphiqlPage {
  #page: Promise<Page> | null = null

  /** A browser that visits, as opposed to a program that sends a query. */
  static isVisit(request: IncomingMessage): boolean {
    const asksForPage = request.headers.accept?.includes('text/html') === true
    return (request.method === 'GET' || request.method === 'HEAD') && asksForPage && !/[?&]query=/.test(request.url ?? '')
  }

  async send(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#page ??= makePage()
    const { etag, plain, gzipped } = await this.#page
    response.setHeader('ETag', etag)
    response.setHeader('Cache-Control', 'no-cache')
    response.setHeader('Vary', 'Accept, Accept-Encoding')
    response.setHeader('X-Frame-Options', 'DENY')
    if (request.headers['if-none-match'] === etag) {
      response.writeHead(304).end()
      return
    }
    const zipped = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
    const body = zipped ? gzipped : plain
    response.writeHead(200, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Length': body.length,
      ...(zipped ? { 'Content-Encoding': 'gzip' } : {}),
    })
    response.end(request.method === 'HEAD' ? undefined : body)
  }
}

async function makePage(): Promise<Page> {
  // Loaded at the first visit only: the module is a string of 9 MB.
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql')
  const html = renderGraphiQL({
    title: 'XCE Services',
    endpoint: '/graphql',
    // With SSE the headers, and so the token, go with a subscription too; over a WebSocket GraphiQL sends none.
    subscriptionsProtocol: 'SSE',
    shouldPersistHeaders: false,
    defaultTabs,
  })
  const plain = Buffer.from(html)
  const gzipped = await promisify(gzip)(plain)
  return { plain, gzipped, etag: `"${createHash('sha256').update(plain).digest('base64url')}"` }
}
