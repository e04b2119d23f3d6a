import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { WebSocket } from 'ws'
import type { ApiClient } from './apiClient.ts'

export interface SocketMessage {
  readonly id?: string
  readonly type: string
  readonly payload?: unknown
}

export const subscribeMessage = (id: string, query: string): SocketMessage => ({
  id,
  type: 'subscribe',
  payload: { query },
})
export const completeMessage = (id: string): SocketMessage => ({ id, type: 'complete' })

/** A WebSocket to the API that says what a test writes by hand, and nothing else: a client library would mend what it wants to try. */
export class HandSocket {
  readonly #socket: WebSocket
  readonly #stream: Socket
  readonly #unread: SocketMessage[] = []
  #wake: () => void = () => undefined

  private constructor(socket: WebSocket, stream: Socket) {
    this.#socket = socket
    this.#stream = stream
    socket.on('message', (data) => this.#put(JSON.parse(String(data)) as SocketMessage))
    socket.once('close', (code, reason) => this.#put({ type: 'closed', payload: `${code} ${reason}` }))
  }

  /** One that the server has acknowledged. */
  static async open({ url, token }: Pick<ApiClient, 'url' | 'token'>): Promise<HandSocket> {
    const { hostname, port } = new URL(url)
    const stream = connect(Number(port), hostname)
    const socket = new WebSocket(url.replace(/^http/, 'ws'), 'graphql-transport-ws', { createConnection: () => stream })
    const hand = new HandSocket(socket, stream)
    await once(socket, 'open')
    hand.send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } })
    await hand.next()
    return hand
  }

  /** Sends these in one piece, so that the server reads them together, before it has answered the first. */
  send(...messages: readonly SocketMessage[]): void {
    this.#stream.cork()
    for (const message of messages) this.#socket.send(JSON.stringify(message))
    this.#stream.uncork()
  }

  subscribe(id: string, query: string): void {
    this.send(subscribeMessage(id, query))
  }

  complete(id: string): void {
    this.send(completeMessage(id))
  }

  /** The next message that was not read, or one of the type `closed`; with `id`: of that operation, and others are dropped. */
  async next(id: string | null = null): Promise<SocketMessage> {
    for (;;) {
      const message = this.#unread.shift()
      if (message !== undefined && (id === null || message.id === id || message.type === 'closed')) return message
      if (message === undefined) await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  close(): void {
    this.#socket.close()
  }

  #put(message: SocketMessage): void {
    this.#unread.push(message)
    this.#wake()
  }
}
