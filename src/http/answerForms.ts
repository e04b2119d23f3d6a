import type { IncomingMessage } from 'node:http'
import { getOperationAST } from 'graphql'
import type { Documents } from './documents.ts'

/** The forms in which a caller takes an answer, as its Accept header says. A caller who says nothing takes any. */
export function answerForms(request: IncomingMessage): { readonly json: boolean; readonly events: boolean } {
  const types = (request.headers.accept ?? '*/*')
    .split(',')
    .map((range) => range.split(';', 1)[0]?.trim().toLowerCase())
  const takes = (...known: readonly string[]) => types.some((type) => type !== undefined && known.includes(type))
  return {
    json: takes('application/json', 'application/graphql-response+json', 'application/*', '*/*'),
    events: takes('text/event-stream', 'text/*', '*/*'),
  }
}

/** Whether a request asks for a subscription. It does not when its document is invalid: whoever answers it as JSON says why. */
export function asksForSubscription(request: IncomingMessage, body: string, documents: Documents): boolean {
  const { query, operationName } = parametersOf(request, body)
  // A document without this word has no subscription, so that most need not be parsed here.
  if (typeof query !== 'string' || !query.includes('subscription')) return false
  const checked = documents.check(query)
  if ('errors' in checked) return false
  const name = typeof operationName === 'string' ? operationName : null
  return getOperationAST(checked.document, name)?.operation === 'subscription'
}

function parametersOf(
  request: IncomingMessage,
  body: string,
): { readonly query?: unknown; readonly operationName?: unknown } {
  if (request.method === 'GET') return Object.fromEntries(new URL(request.url ?? '', 'http://localhost').searchParams)
  try {
    const parameters: unknown = JSON.parse(body)
    return typeof parameters === 'object' && parameters !== null ? parameters : {}
  } catch {
    return {}
  }
}
