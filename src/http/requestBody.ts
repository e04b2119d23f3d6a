import type { IncomingMessage, ServerResponse } from 'node:http'
import { requestError } from '../graphql/kit/requestErrors.ts'
import { sendError } from './sendJson.ts'

/** The largest body of a request over HTTP. */
export const requestBytes = 1_048_576

/**
 * Reads the body of a request, and makes JSON of one that is a bare document (application/graphql). Null when it is larger than is allowed, which is found before it has come in, or while it does: no more than the
 * bound is ever kept. Null also when the caller goes away, who gets no answer whatever it is.
 */
export async function readBody(request: IncomingMessage): Promise<string | null> {
  if (Number(request.headers['content-length'] ?? 0) > requestBytes || request.destroyed) return null
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const keep = (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= requestBytes) {
        chunks.push(chunk)
        return
      }
      request.off('data', keep)
      // The rest is thrown away as it comes, so that the answer reaches a caller who sends everything before it listens.
      request.resume()
      resolve(null)
    }
    request.on('data', keep)
    request.once('end', () => resolve(asJson(request, Buffer.concat(chunks).toString())))
    // A caller who goes away early ends the request without `end`.
    request.once('close', () => resolve(null))
    request.once('error', () => resolve(null))
  })
}

function asJson({ headers }: IncomingMessage, body: string): string {
  if (headers['content-type'] !== 'application/graphql') return body
  headers['content-type'] = 'application/json'
  return JSON.stringify({ query: body })
}

export function sendTooLarge(response: ServerResponse): void {
  sendError(response, requestError('PAYLOAD_TOO_LARGE', `The request is larger than ${requestBytes} bytes.`))
}
