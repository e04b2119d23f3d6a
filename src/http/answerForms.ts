import type { IncomingMessage } from 'node:http'
import { type GraphQLError, getOperationAST } from 'graphql'
import { requestError } from '../graphql/kit/requestErrors.ts'
import { acceptedTypes } from './acceptHeader.ts'
import type { Documents } from './documents.ts'

export const eventStreamType = 'text/event-stream'
export const jsonTypes: readonly string[] = ['application/json', 'application/graphql-response+json']

/** The forms in which the caller of an operation takes the answer, the most wanted type of JSON first; an error where the server has none of them. */
export function answerForms({
  headers,
}: IncomingMessage): { readonly json: readonly string[]; readonly events: boolean } | GraphQLError {
  const accepted = acceptedTypes(headers.accept, [...jsonTypes, eventStreamType])
  if (accepted.length > 0)
    return { json: accepted.filter((type) => type !== eventStreamType), events: accepted.includes(eventStreamType) }
  const message = `The header Accept takes nothing that the server writes: ${jsonTypes.join(' or ')}, and ${eventStreamType} for subscriptions.`
  return requestError('NOT_ACCEPTABLE', message)
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
