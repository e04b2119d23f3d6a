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

/** The sentence about a fact, for people to read. */
export interface EventText {
  readonly kind: EventKind
  readonly message: string
  /** The user who caused it, or `xce` for the rules. */
  readonly actor: string
  /** Why the actor wanted it, in their words; left out where they did not say. */
  readonly why?: string | null
  readonly replicaId: ReplicaId | null
  readonly hostId: HostId | null
  /** How often it has happened so far; only the 1st, 2nd, 4th, 8th … time has an event. */
  readonly count: number
}

/**
 * The change that a service's fact carries. A commit of a service makes one `change`, as its last fact; the facts
 * before it in the same commit are `eventOnly` and carry only an event. So every table and count is exact at the
 * revision of a `change`, and an `eventOnly` changes none of them.
 */
export interface ServiceFactData {
  readonly format: 1
  readonly name: string
  readonly projectId: ProjectId
  /** The columns before and after the commit; only those that changed. */
  readonly before: Partial<ServiceColumns>
  readonly after: Partial<ServiceColumns>
  /** Replicas that were created or changed, or that ended. */
  readonly replicas: readonly ReplicaId[]
  /** Those of `replicas` that have ended. */
  readonly ended: readonly ReplicaId[]
  /** Hosts whose assignments changed. */
  readonly hosts: readonly HostId[]
  /**
   * Addresses that are new or changed, to be written over those with the same id, and the ids of those that left the
   * table.
   */
  readonly upserted: readonly EndpointAddress[]
  readonly removed: readonly string[]
  /** The old values of the `upserted` addresses that were in the table, and of all that were removed. */
  readonly replaced: readonly EndpointAddress[]
  /** Rollouts that began or changed. */
  readonly rollouts: readonly RolloutId[]
  /** The status after the commit, whether or not it changed. */
  readonly status: ServiceStatus
  /** The service's earliest timer after the commit. */
  readonly dueAt: Instant | null
  /** Something that waits could be placed now, because rows were created, room was released or a wait ended. */
  readonly wakesPlacement: boolean
}

/** The change that any other fact carries: it is not about a service. */
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
