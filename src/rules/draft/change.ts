import type { Reachability, TimerKind } from '../../generated/prisma/enums.ts'
import type { AllocatedPort } from '../../model/content.ts'
import type { NewFact } from '../../model/fact.ts'
import type { HostId, Instant, ProjectId, ReplicaId, ServiceId, WorkerId } from '../../model/id.ts'
import type { Replica, Rollout, ServiceColumns, ServiceSnapshot, Slot, Version } from '../../model/service.ts'

/**
 * The net change of one service in one commit, over all intents of the batch, with each row at most once. The store
 * writes it and decides nothing.
 */
export interface ServiceChange {
  readonly id: ServiceId
  /** The guard that the decision was made on; -1 means that this change creates the service. */
  readonly guard: number
  /** The new service; null unless this change creates it. */
  readonly created: ServiceSnapshot | null
  /** All columns, as they are after the change. */
  readonly columns: ServiceColumns
  readonly insertedVersions: readonly Version[]
  readonly insertedReplicas: readonly Replica[]
  /** Whole replica rows, as they are after the change. */
  readonly updatedReplicas: readonly Replica[]
  /** Rollouts to insert, or to update by their numbers. */
  readonly rollouts: readonly Rollout[]
  readonly slots: {
    readonly upserted: readonly Slot[]
    readonly deleted: readonly Pick<Slot, 'index' | 'contentNumber'>[]
  }
  readonly timers: { readonly upserted: ReadonlyMap<TimerKind, Instant>; readonly deleted: readonly TimerKind[] }
  /** How many more rows hold quota after the change than before it. */
  readonly quota: { readonly projectId: ProjectId; readonly delta: number }
  /**
   * The project's limit by which a growth was judged; null where none was judged. The commit refuses the change if the
   * limit has changed.
   */
  readonly limit: { readonly maxReplicas: number | null } | null
  /**
   * What grants take from each host and ends give back. `allocation` is null where there are only releases, which need
   * no guard.
   */
  readonly hosts: readonly HostUse[]
  /** The epochs under which the accepted reports were made: the commit compares them with the workers' epochs. */
  readonly fences: readonly { readonly workerId: WorkerId; readonly epoch: number }[]
  /** The states that workers must have at the commit. */
  readonly workerPreconditions: readonly WorkerPrecondition[]
  /**
   * The facts in order; the last one is the `change`. If there is none, nothing changed and the commit only compares
   * the guard.
   */
  readonly facts: readonly NewFact[]
  /**
   * The position (1, 2, …) in `facts` of the last change that a user made, which gives the new specRevision; null where
   * there is none.
   */
  readonly specFact: number | null
  /**
   * The snapshot after the change. The store sets `guard`, `revision` and `specRevision` when the commit was accepted.
   */
  readonly next: ServiceSnapshot
}

/**
 * The state that a worker must have for the change to be true (R15); null means any. A worker is draining when it is
 * drained itself or its host is.
 */
export interface WorkerPrecondition {
  readonly workerId: WorkerId
  readonly reachability: Reachability | null
  readonly draining: boolean | null
  /** The addresses that its host must have; any, if left out. */
  readonly addresses?: readonly string[]
}

export interface HostUse {
  readonly hostId: HostId
  readonly allocation: number | null
  readonly cpuMillis: number
  readonly memoryMiB: number
  /** The port cursor to store (R13); null leaves it unchanged. */
  readonly lastPort: number | null
  readonly portsTaken: readonly (AllocatedPort & { readonly replicaId: ReplicaId })[]
  readonly portsReleased: readonly (AllocatedPort & { readonly replicaId: ReplicaId })[]
  /**
   * Ports that something else uses: the host keeps them in quarantine for a while (R13). A fixed one is watched, because
   * its replica may have no other place.
   */
  readonly portsQuarantined: readonly (AllocatedPort & { readonly replicaId: ReplicaId; readonly watched: boolean })[]
  /** Ports of replicas that ended when their worker was lost: the host keeps them for that worker (R15). */
  readonly portsKept: readonly (AllocatedPort & { readonly replicaId: ReplicaId; readonly workerId: WorkerId | null })[]
}
