import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A TCP connection that can be cut where a network would cut it: between a server's work and the answer to it. */
export interface TcpProxy {
  readonly port: number
  /** From now on answers of connections that are open are lost on the way. */
  swallowAnswers(): void
  /** Cuts what is open. New connections pass. */
  cut(): void
  close(): Promise<void>
}

export async function tcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const pairs = new Set<{ client: Socket; server: Socket }>()
  const listener = createServer((client) => {
    const server = connect(target)
    const pair = { client, server }
    pairs.add(pair)
    client.pipe(server)
    server.pipe(client)
    const end = () => {
      pairs.delete(pair)
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) socket.on('error', end).on('close', end)
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    swallowAnswers: () => {
      for (const { client, server } of pairs) server.unpipe(client).resume()
    },
    cut: () => {
      for (const { client, server } of pairs) {
        client.destroy()
        server.destroy()
      }
    },
    close: async () => {
      for (const { client, server } of pairs) {
        client.destroy()
        server.destroy()
      }
      listener.close()
      await once(listener, 'close')
    },
  }
}
