import type { HostId } from '../../model/id.ts'
import { hostHeldBy } from '../../model/replica.ts'
import type { Replica } from '../../model/service.ts'
import type { HostUse } from '../draft/change.ts'
import { type Draft, versionOf } from '../draft/draft.ts'
import type { RowChange } from '../draft/rowChange.ts'

type HeldPort = HostUse['portsTaken'][number]
type QuarantinedPort = HostUse['portsQuarantined'][number]
type KeptPort = HostUse['portsKept'][number]

interface Use {
  cpuMillis: number
  memoryMiB: number
  readonly portsTaken: HeldPort[]
  readonly portsReleased: HeldPort[]
  readonly portsQuarantined: QuarantinedPort[]
  readonly portsKept: KeptPort[]
}

/** Sums up what the change takes from each host and gives back to it (R13, R14), in the order of the hosts' ids. */
export function hostUsesOf(draft: Draft, changes: readonly RowChange[]): HostUse[] {
  const uses = new Map<HostId, Use>()
  for (const { before, after } of changes) {
    const from = before === null ? null : hostHeldBy(before)
    const to = hostHeldBy(after)
    if (from === to) continue
    if (before !== null && from !== null) {
      const use = useOf(uses, from)
      use.cpuMillis -= before.cpuMillis
      use.memoryMiB -= before.memoryMiB
      const ports = portsOf(before)
      if (draft.lost.has(before.id))
        use.portsKept.push(...ports.map((port) => ({ ...port, workerId: before.workerId })))
      else {
        const taken = draft.quarantined.get(before.id) ?? []
        for (const port of ports) {
          const isTaken = taken.some(({ name }) => name === port.name)
          if (isTaken) use.portsQuarantined.push({ ...port, watched: isFixed(draft, before, port) })
          else use.portsReleased.push(port)
        }
      }
    }
    if (to !== null) {
      const use = useOf(uses, to)
      use.cpuMillis += after.cpuMillis
      use.memoryMiB += after.memoryMiB
      use.portsTaken.push(...portsOf(after))
    }
  }
  return [...uses]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([hostId, use]) => {
      const granted = draft.granted.get(hostId)
      return { hostId, allocation: granted?.allocation ?? null, lastPort: granted?.lastPort ?? null, ...use }
    })
}

function isFixed(draft: Draft, row: Replica, { name }: HeldPort): boolean {
  const { ports } = versionOf(draft, row.versionNumber).content
  return ports.some((declared) => declared.name === name && declared.port !== null)
}

/** The host frees room, so something that waits could be placed there. */
export function releases(use: HostUse): boolean {
  return use.cpuMillis < 0 || use.memoryMiB < 0 || use.portsReleased.length > 0
}

function portsOf(row: Replica): HeldPort[] {
  return row.ports.map((port) => ({ ...port, replicaId: row.id }))
}

function useOf(uses: Map<HostId, Use>, hostId: HostId): Use {
  let use = uses.get(hostId)
  if (use === undefined) {
    use = { cpuMillis: 0, memoryMiB: 0, portsTaken: [], portsReleased: [], portsQuarantined: [], portsKept: [] }
    uses.set(hostId, use)
  }
  return use
}
