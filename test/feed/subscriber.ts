import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { ApiClient } from '../support/drivers/apiClient.ts'
import { until } from '../support/fixtures/until.ts'

/** A message of the protocol graphql-transport-ws. */
export interface Message {
  readonly id?: string
  readonly type: string
  readonly payload?: {
    readonly data?: Record<string, Frame> | null
    readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[]
  }
}

/** Whatever a document asks of a frame. */
export interface Frame {
  readonly kind: 'SNAPSHOT' | 'DELTA' | 'BOOKMARK' | 'GONE'
  readonly revision: string
  readonly [field: string]: unknown
}

/** A bare WebSocket that speaks the protocol and keeps all it hears. */
export class Subscriber {
  readonly socket: WebSocket
  readonly messages: Message[] = []
  /** Code and reason, once it is closed. */
  closed: { readonly code: number; readonly reason: string } | null = null
  #taken = 0

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', (data) => void this.messages.push(JSON.parse(String(data)) as Message))
    socket.on('error', () => undefined)
    socket.once('close', (code, reason) => {
      this.closed = { code, reason: String(reason) }
    })
  }

  /** Opens a socket and, unless `init` is false, says who is there and waits for the acknowledgement. */
  static async open({ url, token }: ApiClient, init = true): Promise<Subscriber> {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), 'graphql-transport-ws', {
      perMessageDeflate: false,
      handshakeTimeout: 10_000,
    })
    const subscriber = new Subscriber(socket)
    await once(socket, 'open')
    if (!init) return subscriber
    subscriber.send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } })
    await subscriber.next((message) => message.type === 'connection_ack')
    return subscriber
  }

  send(message: Record<string, unknown>): void {
    this.socket.send(JSON.stringify(message))
  }

  subscribe(query: string, variables: Record<string, unknown> = {}, id = '1'): void {
    this.send({ id, type: 'subscribe', payload: { query, variables } })
  }

  /** The next message that was not taken yet; passes over those that `wanted` does not want. */
  async next(wanted: (message: Message) => boolean = () => true): Promise<Message> {
    return until(() => {
      while (this.#taken < this.messages.length) {
        const message = this.messages[this.#taken++]
        if (message !== undefined && wanted(message)) return message
      }
      return null
    }, 'a message comes')
  }

  /** The next frame. Throws on an error. */
  async frame(id = '1'): Promise<Frame> {
    const { type, payload } = await this.next((message) => message.id === id)
    const [frame] = Object.values(payload?.data ?? {})
    if (type !== 'next' || frame === undefined) throw new Error(`No frame: ${type} ${JSON.stringify(payload)}`)
    return frame
  }

  /** The code of the error that ends the operation. */
  async errorCode(id = '1'): Promise<string | undefined> {
    const { payload } = await this.next((message) => message.id === id)
    const errors = Array.isArray(payload) ? (payload as NonNullable<Message['payload']>['errors']) : payload?.errors
    return errors?.[0]?.extensions?.code
  }

  /** Frames and messages that came and were not taken. */
  get waiting(): number {
    return this.messages.length - this.#taken
  }

  async close(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return
    this.socket.terminate()
    await until(() => this.closed, 'the socket closes')
  }
}

/** The first frame of each subscription for who has `after` of it; `streams`: what is asked of each field, with its arguments. */
export async function firstFrames(
  client: ApiClient,
  streams: Readonly<Record<string, string>>,
  after: Readonly<Record<string, Frame>> | null,
): Promise<Record<string, Frame>> {
  const frames: Record<string, Frame> = {}
  for (const [field, asked] of Object.entries(streams)) {
    const subscriber = await Subscriber.open(client)
    subscriber.subscribe(`subscription ($after: Revision) { ${field}${asked} }`, {
      after: after?.[field]?.revision ?? null,
    })
    frames[field] = await subscriber.frame()
    await subscriber.close()
  }
  return frames
}
