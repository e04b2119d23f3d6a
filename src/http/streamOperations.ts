import type { IncomingMessage } from 'node:http'

/** A request as graphql-sse gets it. */
export interface StreamRequest {
  readonly url: string
  readonly body: string | Record<string, unknown>
}

const eventStart = /^(event: (?:next|complete)\ndata: \{"id":)"(\d+)"/

/**
 * The operations of one event stream in the single connection mode, by the ids that its client gives them. graphql-sse keeps an operation's state
 * by its id only, and forgets it when the client ends the operation, though that may run on for a while. A new operation of the same id would then
 * get the old one's answer, or lose its own state to it. So the library knows each operation by a number, and the events of one that was ended are
 * dropped.
 */
export class StreamOperations {
  readonly #numbers = new Map<string, number>()
  readonly #ids = new Map<number, string>()
  #last = 0

  /** Gives a new operation of a client's id its number; null while another one of this id goes on. */
  begin(id: string): number | null {
    if (this.#numbers.has(id)) return null
    this.#last++
    this.#numbers.set(id, this.#last)
    this.#ids.set(this.#last, id)
    return this.#last
  }

  /** Frees the id of an operation, and returns its number; null when there is none. */
  end(id: string): number | null {
    const number = this.#numbers.get(id) ?? null
    if (number !== null) this.endNumber(number)
    return number
  }

  endNumber(number: number): void {
    const id = this.#ids.get(number)
    this.#ids.delete(number)
    if (id !== undefined) this.#numbers.delete(id)
  }

  /** An event of the library with the client's own id; null for an event of an operation that has been ended. */
  rename(event: string): string | null {
    const [start, before, number] = eventStart.exec(event) ?? []
    // Comments keep the connection alive, and belong to no operation.
    if (start === undefined) return event
    const id = this.#ids.get(Number(number))
    if (id === undefined) return null
    if (event.startsWith('event: complete')) this.end(id)
    return `${before}${JSON.stringify(id)}${event.slice(start.length)}`
  }
}

/** The id that a request gives its operation, as graphql-sse reads it; null where it gives none. */
export function operationIdOf({ method }: IncomingMessage, { url, body }: StreamRequest): string | null {
  if (method === 'DELETE') return searchOf(url).get('operationId') || null
  const extensions = method === 'GET' ? parseObject(searchOf(url).get('extensions')) : parseObject(body)?.['extensions']
  if (typeof extensions !== 'object' || extensions === null) return null
  return String((extensions as Record<string, unknown>)['operationId'] ?? '') || null
}

/** The same request with another id of its operation. */
export function withOperationId({ method }: IncomingMessage, { url, body }: StreamRequest, id: number): StreamRequest {
  const operationId = String(id)
  if (method === 'POST') {
    const parameters = parseObject(body) ?? {}
    return { url, body: { ...parameters, extensions: { ...(parameters['extensions'] as object), operationId } } }
  }
  const search = searchOf(url)
  if (method === 'DELETE') search.set('operationId', operationId)
  else search.set('extensions', JSON.stringify({ ...parseObject(search.get('extensions')), operationId }))
  return { url: `${url.split('?', 1)[0]}?${search}`, body }
}

function searchOf(url: string): URLSearchParams {
  return new URL(url, 'http://localhost').searchParams
}

function parseObject(value: unknown): Record<string, unknown> | null {
  try {
    const parsed: unknown = typeof value === 'string' ? JSON.parse(value) : value
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : null
  } catch {
    return null
  }
}
