import type { ApiClient } from './apiClient.ts'

export interface ServerSentEvent {
  readonly event: string
  readonly data: unknown
}

/** A subscription over server-sent events, one event at a time. It ends when the server ends the stream; `broken`: without saying so. */
export class EventStream {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #abort: AbortController
  readonly #decoder = new TextDecoder()
  #text = ''

  private constructor(reader: ReadableStreamDefaultReader<Uint8Array>, abort: AbortController) {
    this.#reader = reader
    this.#abort = abort
  }

  /** Subscribes, each subscription with a request of its own. */
  static open(
    { url, token }: Pick<ApiClient, 'url' | 'token'>,
    query: string,
    variables: Record<string, unknown> = {},
  ): Promise<EventStream> {
    const headers = {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      authorization: `Bearer ${token}`,
    }
    return EventStream.request(url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) })
  }

  static async request(url: string, request: RequestInit): Promise<EventStream> {
    const abort = new AbortController()
    const response = await fetch(url, { ...request, signal: abort.signal })
    if (response.body === null) throw new Error(`No event stream: ${response.status}`)
    return new EventStream(response.body.getReader(), abort)
  }

  /** The next event that is no comment; null at the end of the stream. Throws when the connection breaks. */
  async next(): Promise<ServerSentEvent | null> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end !== -1) {
        const block = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 2)
        const event = /^event: ?(.*)$/m.exec(block)?.[1]
        const data = /^data: ?(.*)$/m.exec(block)?.[1]
        if (event !== undefined) return { event, data: data ? JSON.parse(data) : null }
        continue
      }
      const { value, done } = await this.#reader.read()
      if (done) return null
      this.#text += this.#decoder.decode(value, { stream: true })
    }
  }

  close(): void {
    this.#abort.abort()
  }
}
