import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import type { AllocatedPort } from '../../model/content.ts'

/** The ports of a replica that something else uses on this host. */
export interface TakenPorts {
  /** The names that the profile gives them. */
  readonly names: readonly string[]
  readonly message: string
}

/**
 * Tries to bind each port on all addresses; null when nothing uses any of them. A port that only this worker may not
 * bind counts as free, because the program may have the right to, or may let a container runtime bind it.
 */
export async function takenPorts(ports: readonly AllocatedPort[]): Promise<TakenPorts | null> {
  const taken: AllocatedPort[] = []
  for (const port of ports) if (await isPortTaken(port)) taken.push(port)
  if (taken.length === 0) return null
  return { names: taken.map(({ name }) => name), message: sentence(taken) }
}

export async function isPortTaken({ port, protocol }: Pick<AllocatedPort, 'port' | 'protocol'>): Promise<boolean> {
  return (await (protocol === 'TCP' ? tryTcp(port, '::') : tryUdp(port, 'udp6'))) === 'EADDRINUSE'
}

/** Names a port as the profile does: `"http" (TCP 20000)`. */
export function portName({ name, protocol, port }: AllocatedPort): string {
  return `"${name}" (${protocol} ${port})`
}

function sentence(taken: readonly AllocatedPort[]): string {
  const names = taken.map(portName).join(', ')
  return taken.length === 1
    ? `The port ${names} is used by another process on this host.`
    : `The ports ${names} are used by other processes on this host.`
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
