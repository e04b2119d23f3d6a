import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isNamed } from './acceptHeader.ts'
import { CachedBody } from './cachedBody.ts'
import { graphiqlMending } from './graphiqlMending.ts'
import { graphiqlSignIn } from './graphiqlSignIn.ts'
import { graphiqlTabs } from './graphiqlTabs.ts'

interface Page {
  readonly policy: string
  readonly body: CachedBody
}

/** Sends GraphiQL as one page of some 9 MB, which is made and compressed at the first visit. The page loads without a token, and nothing of it from elsewhere. */
export class GraphiqlPage {
  #page: Promise<Page> | null = null

  /** Whether a browser visits, and no program sends a query. GraphiQL writes `?query=` into its address, so such an address is a visit too. */
  static isVisit(request: IncomingMessage): boolean {
    return (request.method === 'GET' || request.method === 'HEAD') && isNamed(request.headers.accept, 'text/html')
  }

  async send(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#page ??= makePage()
    const { policy, body } = await this.#page
    response.setHeader('Content-Security-Policy', policy)
    response.setHeader('Referrer-Policy', 'no-referrer')
    response.setHeader('X-Frame-Options', 'DENY')
    body.send(request, response, ['Accept'])
  }
}

async function makePage(): Promise<Page> {
  // The module is a string of 9 MB, so it is loaded at the first visit only.
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql')
  const rendered = renderGraphiQL({
    title: 'XCE Services',
    logo: '',
    endpoint: '/graphql',
    // With SSE the headers, and so the token, go with a subscription too; over a WebSocket GraphiQL sends none.
    subscriptionsProtocol: 'SSE',
    // The sign-in sets the token. What somebody types into the headers' editor could get into the local storage.
    shouldPersistHeaders: false,
    isHeadersEditorEnabled: false,
    defaultEditorToolsVisibility: false,
    defaultTabs: graphiqlTabs.map(({ query }) => ({ query })),
  })
  const root = '<div id="root"></div>'
  const [head, tail, ...more] = rendered.split(root)
  if (head === undefined || tail === undefined || more.length > 0)
    throw new Error('The page of GraphiQL has no place for the sign-in.')
  const html = `${head.replace('</head>', () => `${graphiqlMending}</head>`)}${graphiqlSignIn}${root}${tail}`
  return { policy: policyOf(html), body: await CachedBody.of('text/html', html) }
}

/** Has the browser itself see to it that the page runs only our scripts and sends requests to this server only. */
function policyOf(html: string): string {
  const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script]) =>
    createHash('sha256').update(script ?? ''),
  )
  return [
    "default-src 'none'",
    `script-src ${scripts.map((hash) => `'sha256-${hash.digest('base64')}'`).join(' ')} blob:`,
    'worker-src blob:',
    "style-src 'unsafe-inline'",
    'img-src data:',
    'font-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
