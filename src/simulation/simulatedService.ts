import type { WaitingReplica } from '../model/host.ts'
import type { HostId, Instant, ReplicaId } from '../model/id.ts'
import { hostLeftBy } from '../model/replica.ts'
import type { Replica, ServiceSnapshot, Version } from '../model/service.ts'
import { type ChangedRow, ServiceWatch } from './invariants.ts'

/** A service in the store of a simulation. */
export class SimulatedService {
  snapshot: ServiceSnapshot
  readonly queuePriority: number
  readonly watch: ServiceWatch
  /** PENDING rows whose wait is over. */
  readonly waiting = new Map<ReplicaId, Replica>()
  /** Every version that the service ever had. */
  readonly versions = new Map<number, Version>()
  /** Its next wake-up in the queue; later ones there are void. */
  wakesAt: Instant | null = null

  constructor(snapshot: ServiceSnapshot, queuePriority: number) {
    this.snapshot = snapshot
    this.queuePriority = queuePriority
    this.watch = new ServiceWatch(snapshot)
    for (const version of snapshot.versions.values()) this.versions.set(version.number, version)
    for (const row of snapshot.replicas.values()) this.#trackWaiting(row)
  }

  /** Takes over the snapshot that a commit made, and the rows and versions that are new in it. */
  accept(snapshot: ServiceSnapshot, rows: readonly ChangedRow[], versions: readonly Version[]): void {
    this.snapshot = snapshot
    for (const version of versions) this.versions.set(version.number, version)
    for (const { after } of rows) this.#trackWaiting(after)
  }

  get dueAt(): Instant | null {
    let dueAt: Instant | null = null
    for (const at of this.snapshot.timers.values()) if (dueAt === null || at < dueAt) dueAt = at
    return dueAt
  }

  /** Yields the waiting replicas as placement reads them. */
  *waitingReplicas(): Generator<WaitingReplica> {
    const { id: serviceId, name: serviceName, projectId, versions, columns } = this.snapshot
    const { spreadMode, maxPerHost } = columns.settings
    for (const row of this.waiting.values()) {
      const { id, createdAt, index, cpuMillis, memoryMiB, avoidHostId, holdsQuota, portConflicts } = row
      const ports = versions.get(row.versionNumber)?.content.ports ?? []
      const { queuePriority } = this
      yield {
        id,
        serviceId,
        serviceName,
        projectId,
        queuePriority,
        createdAt,
        index,
        cpuMillis,
        memoryMiB,
        ports,
        spreadMode,
        maxPerHost,
        avoidHostId,
        bannedHostId: this.#hostLeftFor(row),
        holdsQuota,
        portConflicts,
      }
    }
  }

  #hostLeftFor({ twinOf }: Replica): HostId | null {
    const leaving = twinOf === null ? undefined : this.snapshot.replicas.get(twinOf)
    return leaving === undefined ? null : hostLeftBy(leaving)
  }

  #trackWaiting(row: Replica): void {
    if (row.state === 'PENDING' && row.notBefore === null) this.waiting.set(row.id, row)
    else this.waiting.delete(row.id)
  }
}
