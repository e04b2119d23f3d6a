import { readFile } from 'node:fs/promises'
import type { PortOfHost } from '../../model/watchedPort.ts'

type Protocol = PortOfHost['protocol']

/** A socket that listens on a TCP port of this network, or that is bound to a UDP port of it. */
export interface BoundSocket {
  readonly port: number
  /** Names the socket in /proc/PID/fd of whoever has it open. */
  readonly inode: number
  /** The user who made it. */
  readonly uid: number
}

const tables: Readonly<Record<Protocol, readonly string[]>> = {
  TCP: ['/proc/net/tcp', '/proc/net/tcp6'],
  UDP: ['/proc/net/udp', '/proc/net/udp6'],
}
/** The kernel's number for LISTEN. A bound UDP socket has no such state. */
const listening = '0A'

/** Reads the kernel's tables (proc(5), /proc/net/tcp). Without IPv6 there is only one of the two. */
export async function readSockets(protocol: Protocol): Promise<BoundSocket[]> {
  const texts = await Promise.all(tables[protocol].map((file) => readFile(file, 'latin1').catch(() => '')))
  return texts.flatMap((text) => parseSockets(text, protocol))
}

export function parseSockets(text: string, protocol: Protocol): BoundSocket[] {
  const sockets: BoundSocket[] = []
  for (const line of text.split('\n').slice(1)) {
    // Most lines of a busy host are connections: they are passed over before they are taken apart.
    if (protocol === 'TCP' && !line.includes(` ${listening} `)) continue
    const [, local, , state, , , , uid, , inode] = line.trim().split(/\s+/)
    if (local === undefined || uid === undefined || inode === undefined) continue
    if (protocol === 'TCP' && state !== listening) continue
    const port = Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16)
    sockets.push({ port, inode: Number(inode), uid: Number(uid) })
  }
  return sockets
}
