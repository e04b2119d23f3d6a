import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import type { AllocatedPort } from '../../model/content.ts'

/** A sentence about the first port that can't be bound on all addresses; null when every port can be bound. */
export async function portFault(ports: readonly AllocatedPort[]): Promise<string | null> {
  for (const port of ports) {
    const code = port.protocol === 'TCP' ? await tryTcp(port.port, '::') : await tryUdp(port.port, 'udp6')
    if (code !== null) return sentence(port, code)
  }
  return null
}

function sentence(port: AllocatedPort, code: string): string {
  const what = `The port "${port.name}" (${port.protocol} ${port.port})`
  return code === 'EADDRINUSE'
    ? `${what} is taken by another process on this host.`
    : `${what} cannot be bound on this host (${code}).`
}

/** Resolves with null or the error's code. On a machine without IPv6 it tries again with IPv4. */
function tryTcp(port: number, host: string): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error) =>
      resolve(withoutIPv6(error) && host === '::' ? tryTcp(port, '0.0.0.0') : codeOf(error)),
    )
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(null)))
  })
}

function tryUdp(port: number, type: 'udp4' | 'udp6'): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = createSocket({ type })
    socket.once('error', (error) => {
      socket.close()
      resolve(withoutIPv6(error) && type === 'udp6' ? tryUdp(port, 'udp4') : codeOf(error))
    })
    socket.bind({ port, exclusive: true }, () => socket.close(() => resolve(null)))
  })
}

function withoutIPv6(error: Error): boolean {
  return ['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EINVAL'].includes(codeOf(error))
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : error.message
}
