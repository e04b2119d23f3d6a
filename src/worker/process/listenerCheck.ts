import type { AllocatedPort } from '../../model/content.ts'
import { listed } from '../../model/listed.ts'
import type { Assignment } from '../assignment.ts'
import { allProcesses, isOfContainer, ownersAmong, type SocketOwner } from '../machine/portOwners.ts'
import { readStat } from '../machine/processTable.ts'
import type { Belonging, Sessions } from '../machine/sessions.ts'
import { type BoundSocket, readSockets } from '../machine/sockets.ts'
import { portName } from './portCheck.ts'

/** What a look at the listeners of a replica's ports found. Both are sentences, the first without a subject. */
export interface ListenerLook {
  /** Why the replica is not ready: another program is known to listen on one of its ports. */
  readonly fault: string | null
  /** What could not be seen, so that the replica is taken for ready. */
  readonly note: string | null
}

/** A port on which somebody listens, and who that is. */
export interface Listening {
  readonly port: AllocatedPort
  readonly owners: readonly (SocketOwner & { readonly is: 'own' | 'ofContainer' | 'other' })[]
  /** The users who made the sockets. */
  readonly uids: readonly number[]
}

/**
 * Looks who listens on the TCP ports of a replica that is about to become ready: its probes would take the answers of
 * any other program for its own (R13). Mostly that is one look at the replica's own processes; all others are looked at
 * only when none of these listens.
 */
export async function lookAtListeners(
  { ports }: Pick<Assignment, 'ports'>,
  belonging: Belonging,
  sessions: Sessions,
): Promise<ListenerLook> {
  const tcp = ports.filter(({ protocol }) => protocol === 'TCP')
  if (tcp.length === 0) return { fault: null, note: null }
  const sockets = (await readSockets('TCP')).filter(({ port }) => tcp.some((own) => own.port === port))
  const members = new Set((await sessions.membersOf(belonging)).map(({ pid }) => pid))
  const seen = new Set(ownersAmong(members, inodesOf(sockets)).keys())
  const isSeen = (port: number): boolean => sockets.some((socket) => socket.port === port && seen.has(socket.inode))
  const unseen = sockets.filter(({ port }) => !isSeen(port))
  if (unseen.length === 0) return { fault: null, note: null }
  const others = ownersAmong(
    allProcesses().filter((pid) => !members.has(pid)),
    inodesOf(unseen),
  )
  const kindOf = (owner: SocketOwner) =>
    descendsFrom(members, owner.pid) ? 'own' : isOfContainer(owner) ? 'ofContainer' : 'other'
  return judgeListeners(
    tcp.flatMap((port) => {
      const own = unseen.filter((socket) => socket.port === port.port)
      if (own.length === 0) return []
      const owners = own.flatMap(({ inode }) => others.get(inode) ?? [])
      return [
        { port, owners: owners.map((owner) => ({ ...owner, is: kindOf(owner) })), uids: own.map(({ uid }) => uid) },
      ]
    }),
  )
}

/** A replica is ready unless another program is known to have one of its ports. Who can't be seen is taken for its own. */
export function judgeListeners(found: readonly Listening[]): ListenerLook {
  const faults: string[] = []
  const notes: string[] = []
  for (const { port, owners, uids } of found) {
    if (owners.some(({ is }) => is === 'own')) continue
    const [other] = owners.filter(({ is }) => is === 'other')
    const [container] = owners
    if (other !== undefined)
      faults.push(
        `process ${other.pid} (${other.name}), which is not of this replica, listens on its port ${portName(port)}`,
      )
    else if (container !== undefined) notes.push(`${portName(port)} (process ${container.pid}, ${container.name})`)
    else notes.push(`${portName(port)} (a process of user ${[...new Set(uids)].join(' and ')})`)
  }
  const fault = faults.length === 0 ? null : listed(faults)
  const note =
    notes.length === 0
      ? null
      : `It is taken for ready, although the worker cannot see for whom the listener works on ${listed(notes)}.`
  return { fault, note: fault === null ? note : null }
}

/** Says whether the process or one of its ancestors is among the members. */
function descendsFrom(members: ReadonlySet<number>, pid: number): boolean {
  for (let at = pid; at > 1; at = readStat(at)?.parent ?? 0) if (members.has(at)) return true
  return false
}

function inodesOf(sockets: readonly BoundSocket[]): Set<number> {
  return new Set(sockets.map(({ inode }) => inode))
}
