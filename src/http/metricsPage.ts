import type { IncomingMessage, ServerResponse } from 'node:http'
import { hasRole } from '../graphql/kit/context.ts'
import type { ServerContext } from '../systems/serverContext.ts'
import { authenticate, tokenOf } from './authenticate.ts'
import type { Metrics } from './metrics.ts'

/** Answers GET /metrics. It needs a token with the role `metrics`, which opens nothing else, or `admin`, unless XCE_METRICS is `open`. */
export async function sendMetrics(
  app: ServerContext,
  metrics: Metrics,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const refusal = await refusalOf(app, request)
  if (refusal !== null) {
    response
      .writeHead(refusal.status, { 'Content-Type': 'text/plain; charset=utf-8', ...refusal.headers })
      .end(`${refusal.text}\n`)
    return
  }
  const text = await metrics.text()
  response.writeHead(200, { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' }).end(text)
}

interface Refusal {
  readonly status: number
  readonly headers: Record<string, string>
  readonly text: string
}

async function refusalOf(app: ServerContext, { method, headers }: IncomingMessage): Promise<Refusal | null> {
  if (method !== 'GET' && method !== 'HEAD')
    return { status: 405, headers: { Allow: 'GET, HEAD' }, text: 'Metrics are read by GET.' }
  if (app.config.metrics === 'open') return null
  const viewer = await authenticate(app, headers.authorization)
  if (viewer === null) {
    const what =
      tokenOf(headers.authorization) === null
        ? 'Send "Authorization: Bearer …" with a token'
        : 'The server does not know this token'
    const text = `${what}: one for metrics is in metrics-token in XCE_DATA_DIR.`
    return { status: 401, headers: { 'WWW-Authenticate': 'Bearer' }, text }
  }
  if (hasRole(viewer, 'metrics') || hasRole(viewer, 'admin')) return null
  return {
    status: 403,
    headers: {},
    text: `${viewer.subject} may not read metrics: use a token with the role metrics or admin.`,
  }
}
