import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** A process that has a socket open. */
export interface SocketOwner {
  readonly pid: number
  readonly name: string
}

/**
 * Finds which of these processes have which of these sockets open. A process of another user may not be looked into, and
 * is left out; so is one that ends meanwhile. The reads are synchronous, because the kernel makes these files in memory.
 */
export function ownersAmong(pids: Iterable<number>, inodes: ReadonlySet<number>): Map<number, SocketOwner[]> {
  const owners = new Map<number, SocketOwner[]>()
  for (const pid of pids) {
    for (const inode of socketsOf(pid)) {
      if (!inodes.has(inode)) continue
      const known = owners.get(inode) ?? []
      if (!known.some((owner) => owner.pid === pid)) known.push({ pid, name: nameOf(pid) })
      owners.set(inode, known)
    }
  }
  return owners
}

export function allProcesses(): number[] {
  return readdirSync('/proc').flatMap((entry) => (/^\d+$/.test(entry) ? [Number(entry)] : []))
}

/** Programs that listen for what runs in a container; names are cut to 15 characters, as the kernel does. */
const containerPrograms: ReadonlySet<string> = new Set([
  'docker-proxy',
  'containerd-shim',
  'conmon',
  'rootlessport',
  'rootlesskit',
  'slirp4netns',
  'pasta',
  'pasta.avx2',
  'gvproxy',
])

/** The process runs in a container, or listens for one, so that nobody can say for which program it does. */
export function isOfContainer({ pid, name }: SocketOwner): boolean {
  return containerPrograms.has(name) || readLink(`/proc/${pid}/ns/pid`) !== readLink('/proc/self/ns/pid')
}

function socketsOf(pid: number): number[] {
  let descriptors: string[]
  try {
    descriptors = readdirSync(`/proc/${pid}/fd`)
  } catch {
    return []
  }
  return descriptors.flatMap((descriptor) => {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(readLink(`/proc/${pid}/fd/${descriptor}`) ?? '') ?? []
    return inode === undefined ? [] : [Number(inode)]
  })
}

function nameOf(pid: number): string {
  return readText(`/proc/${pid}/comm`)?.trim() ?? 'unknown'
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

function readLink(file: string): string | null {
  try {
    return readlinkSync(file)
  } catch {
    return null
  }
}
