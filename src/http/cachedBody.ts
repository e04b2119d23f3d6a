import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { isNamed } from './acceptHeader.ts'

interface Body {
  readonly etag: string
  readonly bytes: Buffer
}

/** An answer that stays the same as long as the server runs. It is compressed once, and a client that has it gets 304. */
export class CachedBody {
  readonly #type: string
  readonly #plain: Body
  readonly #gzipped: Body

  private constructor(type: string, plain: Body, gzipped: Body) {
    this.#type = type
    this.#plain = plain
    this.#gzipped = gzipped
  }

  /** `type`: the media type of the text. */
  static async of(type: string, text: string): Promise<CachedBody> {
    const bytes = Buffer.from(text)
    const hash = createHash('sha256').update(bytes).digest('base64url')
    const gzipped = { etag: `"${hash}-gzip"`, bytes: await promisify(gzip)(bytes) }
    return new CachedBody(`${type}; charset=utf-8`, { etag: `"${hash}"`, bytes }, gzipped)
  }

  /** `vary`: the request's headers, besides Accept-Encoding, that made the caller choose this body. */
  send(request: IncomingMessage, response: ServerResponse, vary: readonly string[] = []): void {
    const zipped = isNamed(String(request.headers['accept-encoding'] ?? ''), 'gzip')
    const { etag, bytes } = zipped ? this.#gzipped : this.#plain
    response.setHeader('ETag', etag)
    response.setHeader('Cache-Control', 'no-cache')
    response.setHeader('Vary', [...vary, 'Accept-Encoding'].join(', '))
    response.setHeader('X-Content-Type-Options', 'nosniff')
    if (request.headers['if-none-match']?.includes(etag)) {
      response.writeHead(304).end()
      return
    }
    response.writeHead(200, {
      'Content-Type': this.#type,
      'Content-Length': bytes.length,
      ...(zipped ? { 'Content-Encoding': 'gzip' } : {}),
    })
    response.end(request.method === 'HEAD' ? undefined : bytes)
  }
}
