import { readFileSync } from 'node:fs'
import path from 'node:path'

/** The cgroup into which the worker moves itself, because the kernel allows processes in leaves only. */
export const workerLeaf = 'xce-worker'

/** The place in the unified hierarchy (version 2) where the worker was started. */
export interface OwnCgroup {
  /** The directory that the worker may divide, if it is delegated to the worker. */
  readonly directory: string
  /** Whether the worker runs in the leaf of that directory: after a restart, or by systemd's `DelegateSubgroup`. */
  readonly isInLeaf: boolean
}

/** Null where this machine has no unified hierarchy. */
export function readOwnCgroup(): OwnCgroup | null {
  try {
    return ownCgroupOf(readFileSync('/proc/self/cgroup', 'utf8'), readFileSync('/proc/self/mountinfo', 'utf8'))
  } catch {
    return null
  }
}

/** Reads /proc/self/cgroup and /proc/self/mountinfo (proc_pid_cgroup(5), proc_pid_mountinfo(5)). */
export function ownCgroupOf(cgroup: string, mountinfo: string): OwnCgroup | null {
  const own = /^0::(\/.*)$/m.exec(cgroup)?.[1]
  const mount = unifiedMountOf(mountinfo)
  if (own === undefined || mount === null) return null
  // In a container without a cgroup namespace the mount shows only a part of the hierarchy.
  const inside = path.posix.relative(mount.root, own)
  if (inside.startsWith('..')) return null
  const directory = path.posix.join(mount.point, inside)
  return path.posix.basename(directory) === workerLeaf
    ? { directory: path.posix.dirname(directory), isInLeaf: true }
    : { directory, isInLeaf: false }
}

/** A line has: id, parent, device, root, mount point, options, any number of fields, "-", type, source, options. */
function unifiedMountOf(mountinfo: string): { readonly root: string; readonly point: string } | null {
  for (const line of mountinfo.split('\n')) {
    const [mounted = '', filesystem = ''] = line.split(' - ')
    const [, , , root, point] = mounted.split(' ')
    if (filesystem.split(' ')[0] === 'cgroup2' && root !== undefined && point !== undefined) {
      return { root: unescaped(root), point: unescaped(point) }
    }
  }
  return null
}

/** The kernel writes white space and backslashes as three octal digits. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_all, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}
