import type { IncomingMessage } from 'node:http'
import type { GraphQLError } from 'graphql'
import { requestError } from '../graphql/kit/requestErrors.ts'
import { isUtf8 } from './acceptHeader.ts'

const bodyTypes = ['application/json', 'application/graphql+json', 'application/graphql']

/**
 * Refuses, before anything is read and done, other methods than these and bodies that the server would not understand. Makes the Content-Type as
 * the libraries expect it.
 */
export function refuseRequest(request: IncomingMessage, methods: readonly string[]): GraphQLError | null {
  const { method = '' } = request
  if (method === 'POST') return refuseBody(request)
  if (methods.includes(method)) return null
  const Allow = methods.join(', ')
  const message = `${method} is not answered here: use one of ${Allow}.`
  return requestError('METHOD_NOT_ALLOWED', message, { http: { headers: { Allow } } })
}

function refuseBody({ headers }: IncomingMessage): GraphQLError | null {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity') {
    const message = `The body is encoded as ${encoding}, which the server does not read: send it without Content-Encoding.`
    return requestError('UNSUPPORTED_MEDIA_TYPE', message, { http: { headers: { 'Accept-Encoding': 'identity' } } })
  }
  const [type = '', ...parameters] = (headers['content-type'] ?? '')
    .toLowerCase()
    .split(/[;,]/)
    .map((part) => part.trim())
  if (!bodyTypes.includes(type)) {
    const what = type === '' ? 'The request has no Content-Type' : `The Content-Type is ${type}`
    const example = '{"query": "{ viewer { subject } }"}'
    const message = `${what}: send Content-Type: application/json and a body like ${example}.`
    return requestError('UNSUPPORTED_MEDIA_TYPE', message)
  }
  const charset = parameters.find((one) => one.startsWith('charset='))?.slice('charset='.length)
  if (!isUtf8(charset))
    return requestError('UNSUPPORTED_MEDIA_TYPE', `The body's charset is ${charset}: send it as UTF-8.`)
  // The libraries compare the header as it stands.
  headers['content-type'] = type === 'application/graphql' ? type : 'application/json'
  return null
}
