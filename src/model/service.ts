import type { TimerKind } from '../generated/prisma/enums.ts'
import type { HostModel } from '../generated/prisma/models/Host.ts'
import type { ReplicaModel } from '../generated/prisma/models/Replica.ts'
import type { RolloutModel } from '../generated/prisma/models/Rollout.ts'
import type { ServiceModel } from '../generated/prisma/models/Service.ts'
import type { ServiceVersionModel } from '../generated/prisma/models/ServiceVersion.ts'
import type { SlotModel } from '../generated/prisma/models/Slot.ts'
import type { TimerModel } from '../generated/prisma/models/Timer.ts'
import type {
  HostId,
  Instant,
  ProfileRevisionId,
  ProjectId,
  QueueId,
  ReplicaId,
  RolloutId,
  ServiceId,
  VersionId,
  WorkerId,
} from './id.ts'
import type { Row } from './row.ts'

/** A row of ServiceVersion. What a column of a row means is told in prisma/schema.prisma. */
export type Version = Omit<
  Row<ServiceVersionModel, { id: VersionId; serviceId: ServiceId; profileRevisionId: ProfileRevisionId }>,
  'serviceId'
>

type ReplicaRow = Row<
  ReplicaModel,
  {
    id: ReplicaId
    serviceId: ServiceId
    twinOf: ReplicaId
    hostId: HostId
    workerId: WorkerId
    avoidHostId: HostId
  }
>

/** A row of Replica. */
export type Replica = Omit<ReplicaRow, 'serviceId'>

/** A row of Slot: the failures of a slot and content (R10). */
export type Slot = Omit<Row<SlotModel, { serviceId: ServiceId; failedHostId: HostId }>, 'serviceId'>

/** A row of Rollout. */
export type Rollout = Omit<Row<RolloutModel, { id: RolloutId; serviceId: ServiceId }>, 'serviceId'>

/** A row of Timer. */
export type Timer = Omit<Row<TimerModel, { serviceId: ServiceId }>, 'serviceId'>

/** What a service needs to know of a host that its replicas are on. The addresses that it has told are in their rows. */
export type NamedHost = Pick<Row<HostModel, { id: HostId }>, 'id' | 'name'>

/** A host with the addresses that it has now, which its services may not have told yet (R12). */
export type HostView = Pick<Row<HostModel, { id: HostId }>, 'id' | 'name' | 'addresses'>

type ServiceRow = Row<
  ServiceModel,
  { id: ServiceId; projectId: ProjectId; queueId: QueueId; profileRevisionId: ProfileRevisionId }
>

/** The columns of Service that never change. */
export type ServiceIdentity = Pick<ServiceRow, 'id' | 'projectId' | 'name' | 'owner' | 'createdAt'>

type ServiceCounters = Pick<ServiceRow, 'guard' | 'revision' | 'specRevision'>

/** The columns of Service that rules decide; the commit statement counts the counters and keeps `heldName`. */
export type ServiceColumns = Omit<ServiceRow, keyof ServiceIdentity | keyof ServiceCounters | 'heldName'>

/**
 * A service as its rules see it: one consistent reading, at `guard`. Values are never changed in place; a commit that
 * was accepted makes the next snapshot.
 */
export interface ServiceSnapshot extends ServiceIdentity, ServiceCounters {
  readonly projectName: string
  /** The project's limit of replicas; null is no limit. A commit that judges by it compares it with the database. */
  readonly maxReplicas: number | null
  readonly columns: ServiceColumns
  /**
   * By number: all versions that an alive replica, the target, the current rollout, `completedVersion`,
   * `previousVersion` or `provenVersion` names.
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
