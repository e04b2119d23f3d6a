import type {
  EndReason,
  LeaveReason,
  ReplicaState,
  RolloutState,
  ServiceStatus,
  TimerKind,
  VersionCause,
} from '../generated/prisma/enums.ts'
import type { Blocker } from './blocker.ts'
import type { AllocatedPort, Content, Overrides, Template } from './content.ts'
import type {
  HostId,
  Instant,
  ProfileRevisionId,
  ProjectId,
  QueueId,
  ReplicaId,
  Revision,
  RolloutId,
  ServiceId,
  VersionId,
  WorkerId,
} from './id.ts'
import type { Settings } from './settings.ts'

/** A row of Version. */
export interface Version {
  readonly id: VersionId
  readonly number: number
  readonly profileRevisionId: ProfileRevisionId
  readonly content: Content
  readonly overrides: Overrides
  readonly template: Template
  /** Equal for equal contents, and only for those. */
  readonly contentDigest: string
  /** The lowest number of this service with equal content; versions are equal where this is. */
  readonly contentNumber: number
  readonly cause: VersionCause
  readonly createdAt: Instant
  readonly createdBy: string
}

/** A row of Replica; a column's meaning is told in prisma/schema.prisma. */
export interface Replica {
  readonly id: ReplicaId
  readonly index: number
  readonly versionNumber: number
  readonly contentNumber: number
  readonly state: ReplicaState
  readonly ready: boolean
  readonly readySince: Instant | null
  readonly available: boolean
  readonly availableSince: Instant | null
  readonly reportedReady: boolean
  readonly hostReachable: boolean
  readonly start: number
  readonly leaving: LeaveReason | null
  readonly twinOf: ReplicaId | null
  readonly hostId: HostId | null
  readonly workerId: WorkerId | null
  readonly hostAddresses: readonly string[]
  readonly ports: readonly AllocatedPort[]
  readonly cpuMillis: number
  readonly memoryMiB: number
  readonly holdsQuota: boolean
  readonly pending: Blocker | null
  readonly notBefore: Instant | null
  readonly portConflicts: number
  readonly avoidHostId: HostId | null
  readonly stopReason: EndReason | null
  readonly stoppingAt: Instant | null
  readonly endReason: EndReason | null
  readonly exitCode: number | null
  readonly exitSignal: string | null
  readonly endMessage: string | null
  readonly reportedEpoch: number
  readonly reportedSequence: number
  readonly createdAt: Instant
  readonly startedAt: Instant | null
  readonly endedAt: Instant | null
}

/** A row of Slot: the failures of a slot and content (R10). */
export interface Slot {
  readonly index: number
  readonly contentNumber: number
  readonly failures: number
  readonly failedAt: Instant
  readonly retryAt: Instant
  readonly failedHostId: HostId | null
}

/** A row of Rollout. */
export interface Rollout {
  readonly id: RolloutId
  readonly number: number
  readonly fromVersion: number | null
  readonly toVersion: number
  readonly state: RolloutState
  readonly automatic: boolean
  readonly hold: Blocker | null
  readonly updatedReplicas: number
  readonly availableReplicas: number
  readonly oldReplicas: number
  readonly desiredReplicas: number
  readonly maxSurge: number
  readonly maxUnavailable: number
  readonly minReadySeconds: number
  readonly progressDeadlineSeconds: number
  readonly bestAvailable: number
  readonly leastOutdated: number
  readonly startedAt: Instant
  readonly progressedAt: Instant
  readonly deadlineAt: Instant | null
  readonly finishedAt: Instant | null
  readonly startedBy: string
}

/** What a service needs to know of a host that its replicas are on. The addresses that it has told are in their rows. */
export interface NamedHost {
  readonly id: HostId
  readonly name: string
}

/** A host with the addresses that it has now, which its services may not have told yet (R12). */
export interface HostView extends NamedHost {
  readonly addresses: readonly string[]
}

/** The columns of the Service row that rules decide (all but `guard` and the revisions, which the statement sets). */
export interface ServiceColumns {
  readonly desiredReplicas: number
  readonly versionNumber: number
  readonly profileRevisionId: ProfileRevisionId
  readonly settings: Settings
  readonly paused: boolean
  readonly rolloutNumber: number
  /** The version whose rollout was completed last; null: none was. */
  readonly completedVersion: number | null
  /** The version with other content than that one whose rollout was completed last before it (R6). */
  readonly previousVersion: number | null
  /** A restart whose replicas are not all marked as leaving yet, by its version's number: those of lower numbers are to be. */
  readonly restartNumber: number | null
  readonly activeReplicas: number
  readonly runningReplicas: number
  readonly readyReplicas: number
  readonly availableReplicas: number
  readonly updatedReplicas: number
  readonly stoppingReplicas: number
  readonly status: ServiceStatus
  readonly blockers: readonly Blocker[]
  readonly deletionRequestedAt: Instant | null
  /** Set when the last replica of a deleted service has ended; its name is free then. */
  readonly deletedAt: Instant | null
}

/**
 * A service as its rules see it: one consistent reading, at `guard`. Values are never changed in place; a commit that
 * was accepted makes the next snapshot.
 */
export interface ServiceSnapshot {
  readonly id: ServiceId
  readonly projectId: ProjectId
  readonly projectName: string
  /** The project's limit of replicas; null is no limit. A commit that judges by it compares it with the database. */
  readonly maxReplicas: number | null
  readonly queueId: QueueId
  readonly name: string
  readonly owner: string
  readonly createdAt: Instant
  readonly guard: number
  readonly revision: Revision
  readonly specRevision: Revision
  readonly columns: ServiceColumns
  /**
   * By number: all versions that an alive replica, the target, the current rollout, `completedVersion` or
   * `previousVersion` names.
   */
  readonly versions: ReadonlyMap<number, Version>
  /** The highest version number ever given. */
  readonly lastVersion: number
  /** Every content that the service ever had: `contentNumber` by `contentDigest`. */
  readonly contents: ReadonlyMap<string, number>
  /** The replicas that have not ended, in the order of their ids. */
  readonly replicas: ReadonlyMap<ReplicaId, Replica>
  readonly slots: readonly Slot[]
  /** The current rollout, which may have finished. */
  readonly rollout: Rollout
  /** The hosts of the alive replicas. */
  readonly hosts: ReadonlyMap<HostId, NamedHost>
  /** The earliest instant of each kind of timer. */
  readonly timers: ReadonlyMap<TimerKind, Instant>
}
