import type { Reachability, TimerKind } from '../../generated/prisma/enums.ts'
import type { AllocatedPort } from '../../model/content.ts'
import type { NewFact } from '../../model/fact.ts'
import type { HostId, Instant, ProjectId, ReplicaId, ServiceId, WorkerId } from '../../model/id.ts'
import type { Replica, Rollout, ServiceColumns, ServiceSnapshot, Slot, Version } from '../../model/service.ts'

/**
 * The net change of one service in one commit, folded over all intents of the batch: each row at most once. The store writes it and decides
 * nothing.
 */
export interface ServiceChange {
  readonly id: ServiceId
  /** The guard that the decision was made on; -1: the service is created by this change. */
  readonly guard: number
  /** Set on creation only. */
  readonly created: ServiceSnapshot | null
  /** All columns, as they are after the change. */
  readonly columns: ServiceColumns
  readonly insertedVersions: readonly Version[]
  readonly insertedReplicas: readonly Replica[]
  /** Whole rows, as they are after the change. */
  readonly updatedReplicas: readonly Replica[]
  /** Inserted or updated by number. */
  readonly rollouts: readonly Rollout[]
  readonly slots: {
    readonly upserted: readonly Slot[]
    readonly deleted: readonly Pick<Slot, 'index' | 'contentNumber'>[]
  }
  readonly timers: { readonly upserted: ReadonlyMap<TimerKind, Instant>; readonly deleted: readonly TimerKind[] }
  /** Rows that hold quota after, minus before. */
  readonly quota: { readonly projectId: ProjectId; readonly delta: number }
  /** The project's limit by which a growth was judged; null: none was. The commit refuses the change where it differs. */
  readonly limit: { readonly maxReplicas: number | null } | null
  /** Per host: what grants take and ends release. `allocation` null: nothing but releases, which need no guard. */
  readonly hosts: readonly HostUse[]
  /** Fences of the reports that were taken: the worker's epoch must still be this. */
  readonly fences: readonly { readonly workerId: WorkerId; readonly epoch: number }[]
  /** How workers must stand at the commit. */
  readonly workerPreconditions: readonly WorkerPrecondition[]
  /** In order. Its last one is the `change`, if there is any. Empty: nothing changed, and nothing but the guard is compared. */
  readonly facts: readonly NewFact[]
  /** Position (1, 2, …) in `facts` of the last change that a user made, null where none: gives the new specRevision. */
  readonly specFact: number | null
  /** The snapshot after, but for `guard`, `revision` and `specRevision`, which the store sets when the commit was accepted. */
  readonly next: ServiceSnapshot
}

/** What a worker must be for the change to be true (R15); null: anything. It is drained by itself or with its host. */
export interface WorkerPrecondition {
  readonly workerId: WorkerId
  readonly reachability: Reachability | null
  readonly draining: boolean | null
  /** Of its host; left out: any. */
  readonly addresses?: readonly string[]
}

export interface HostUse {
  readonly hostId: HostId
  readonly allocation: number | null
  readonly cpuMillis: number
  readonly memoryMiB: number
  /** The port cursor to store (R13), null: unchanged. */
  readonly lastPort: number | null
  readonly portsTaken: readonly (AllocatedPort & { readonly replicaId: ReplicaId })[]
  readonly portsReleased: readonly (AllocatedPort & { readonly replicaId: ReplicaId })[]
  /** Released by a bind failure: the host keeps them until the instant (R13). */
  readonly portsQuarantined: readonly (AllocatedPort & { readonly replicaId: ReplicaId })[]
  /** Of replicas that ended with their worker's loss: the host keeps them for that one (R15). */
  readonly portsKept: readonly (AllocatedPort & { readonly replicaId: ReplicaId; readonly workerId: WorkerId | null })[]
}
