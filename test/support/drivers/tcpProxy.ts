import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** Of the bytes: from the client to the server, or back. */
export type Direction = 'toServer' | 'toClient'

/** TCP connections that can be cut where a network would cut them, and that can be listened to. */
export interface TcpProxy {
  readonly port: number
  /** From now on answers of connections that are open are lost on the way. */
  swallowAnswers(): void
  /** Cuts what is open. New connections pass. */
  cut(): void
  /** Nobody is told anything: bytes of these directions wait on the way, as they do while a network is away, and new connections wait whole. */
  hold(...directions: Direction[]): void
  /** What waits goes on. */
  heal(): void
  /** Told of what passes, before it does; connections are numbered from 1. */
  onBytes(listener: (direction: Direction, bytes: Buffer, connection: number) => void): void
  /** How many connections there were. */
  readonly connections: number
  close(): Promise<void>
}

interface Pair {
  readonly client: Socket
  readonly server: Socket
}

export async function tcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const pairs = new Set<Pair>()
  const waiting = new Map<Socket, number>()
  const held = new Set<Direction>()
  const listeners: ((direction: Direction, bytes: Buffer, connection: number) => void)[] = []
  let connections = 0

  const pass = (client: Socket, number: number) => {
    waiting.delete(client)
    if (client.destroyed) return
    const server = connect(target)
    const pair = { client, server }
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) socket.on('error', end).on('close', end)
    client.on('data', (bytes) => tell('toServer', bytes, number)).pipe(server)
    server.on('data', (bytes) => tell('toClient', bytes, number)).pipe(client)
  }
  const tell: (typeof listeners)[number] = (...told) => {
    for (const listener of listeners) listener(...told)
  }
  const setHeld = ({ client, server }: Pair) => {
    for (const [direction, from, to] of [
      ['toServer', client, server] as const,
      ['toClient', server, client] as const,
    ]) {
      if (held.has(direction)) from.unpipe(to).pause()
      else from.pipe(to)
    }
  }
  const cut = () => {
    for (const { client, server } of pairs) for (const socket of [client, server]) socket.destroy()
    for (const client of waiting.keys()) client.destroy()
  }

  const listener = createServer((client) => {
    connections++
    client.on('error', () => undefined)
    if (held.size === 0) pass(client, connections)
    else waiting.set(client.pause(), connections)
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    swallowAnswers: () => {
      for (const { client, server } of pairs) server.unpipe(client).resume()
    },
    cut,
    hold: (...directions) => {
      for (const direction of directions) held.add(direction)
      for (const pair of pairs) setHeld(pair)
    },
    heal: () => {
      held.clear()
      for (const pair of pairs) setHeld(pair)
      for (const [client, number] of waiting) pass(client, number)
    },
    onBytes: (told) => void listeners.push(told),
    get connections() {
      return connections
    },
    close: async () => {
      cut()
      listener.close()
      await once(listener, 'close')
    },
  }
}
