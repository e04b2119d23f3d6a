import type { EventKind, ServiceStatus } from '../generated/prisma/enums.ts'
import type { EndpointAddress } from './endpoint.ts'
import type {
  HostId,
  Instant,
  ProfileId,
  ProjectId,
  QueueId,
  ReplicaId,
  Revision,
  RolloutId,
  ServiceId,
  WorkerId,
} from './id.ts'
import type { ServiceColumns } from './service.ts'

/** The sentence about a fact that a person reads. */
export interface EventText {
  readonly kind: EventKind
  readonly message: string
  /** The subject whose doing it is, or `xce` for the rules. */
  readonly actor: string
  readonly replicaId: ReplicaId | null
  readonly hostId: HostId | null
}

/**
 * The change that a service's fact carries. A commit of a service makes one `change` per net change, as its last fact; the facts before it in
 * the same commit are `eventOnly`: they carry only an event. So every table and count is exact at the revision of a `change`, and unchanged
 * by a `eventOnly`.
 */
export interface ServiceFactData {
  readonly format: 1
  readonly name: string
  readonly projectId: ProjectId
  /** Columns before and after, those that changed only. */
  readonly before: Partial<ServiceColumns>
  readonly after: Partial<ServiceColumns>
  /** Replicas created, changed or ended. */
  readonly replicas: readonly ReplicaId[]
  /** Of those, the ones that have ended. */
  readonly ended: readonly ReplicaId[]
  /** Hosts whose assignments changed. */
  readonly hosts: readonly HostId[]
  /** Addresses new or changed (upsert by id), and ids of those that left the table. */
  readonly upserted: readonly EndpointAddress[]
  readonly removed: readonly string[]
  /** As they were before: those of `upserted` that were in the table, and all that were removed. */
  readonly replaced: readonly EndpointAddress[]
  /** Rollouts that began or changed. */
  readonly rollouts: readonly RolloutId[]
  /** After the change, whether or not it changed. */
  readonly status: ServiceStatus
  /** The service's earliest timer after the commit. */
  readonly dueAt: Instant | null
  /** Something that waits could be placed now: rows were created, room was released, a wait ended. */
  readonly wakesPlacement: boolean
}

/** The change that a fact about something else than a service carries. */
export interface ClusterFactData {
  readonly format: 1
  readonly profileId?: ProfileId
  readonly projectId?: ProjectId
  readonly queueId?: QueueId
  readonly workerId?: WorkerId
  readonly wakesPlacement: boolean
}

export type NewFact =
  | { readonly kind: 'eventOnly'; readonly event: EventText }
  | { readonly kind: 'change'; readonly data: ServiceFactData; readonly event: EventText | null }
  | {
      readonly kind: 'profile' | 'project' | 'queue' | 'host'
      readonly data: ClusterFactData
      readonly hostId: HostId | null
      readonly event: EventText | null
    }

/**
 * A fact as the tail reads it; events are read from their own table. Whoever decides by the kind what a fact invalidates does so in a `switch`
 * that ends with `satisfies never`, so that a new kind cannot be passed over by mistake.
 */
export type CommittedFact = { readonly revision: Revision; readonly at: Instant } & (
  | { readonly kind: 'eventOnly'; readonly serviceId: ServiceId; readonly hostId: null; readonly data: null }
  | { readonly kind: 'change'; readonly serviceId: ServiceId; readonly hostId: null; readonly data: ServiceFactData }
  | {
      readonly kind: Exclude<NewFact['kind'], 'eventOnly' | 'change'>
      readonly serviceId: null
      readonly hostId: HostId | null
      readonly data: ClusterFactData
    }
)
