import type { PortProtocol, SpreadMode } from '../generated/prisma/enums.ts'
import type { HostModel } from '../generated/prisma/models/Host.ts'
import type { HostPortModel } from '../generated/prisma/models/HostPort.ts'
import type { ProjectModel } from '../generated/prisma/models/Project.ts'
import type { WorkerModel } from '../generated/prisma/models/Worker.ts'
import type { AllocatedPort, PortDeclaration } from './content.ts'
import type { HostId, Instant, ProjectId, ReplicaId, ServiceId, WorkerId } from './id.ts'
import type { Row } from './row.ts'
import type { Replica } from './service.ts'

/** A worker as placement sees it: how much room it has on its host. */
export interface PlacementWorker
  extends Pick<Row<WorkerModel, { id: WorkerId }>, 'id' | 'reachability' | 'draining' | 'cpuMillis' | 'memoryMiB'> {
  readonly usedCpuMillis: number
  readonly usedMemoryMiB: number
}

type HostColumns =
  | 'id'
  | 'name'
  | 'addresses'
  | 'scheduling'
  | 'reachability'
  | 'reason'
  | 'allocation'
  | 'portFrom'
  | 'portTo'
  | 'reservedPorts'
  | 'lastPort'

/** A host as placement sees it at `allocation`. Ports and spread are the host's; room is its workers'. */
export interface PlacementHost extends Pick<Row<HostModel, { id: HostId }>, HostColumns> {
  readonly workers: readonly PlacementWorker[]
  readonly takenPorts: readonly TakenPort[]
  /** How many alive replicas each service has here. */
  readonly replicasOf: ReadonlyMap<ServiceId, number>
}

/** Held by a replica, by what a LOST worker may still run, or in quarantine. */
export type TakenPort = Pick<Row<HostPortModel, Record<never, never>>, 'port' | 'protocol' | 'quarantinedUntil'>

type ReplicaColumns =
  | 'id'
  | 'createdAt'
  | 'index'
  | 'cpuMillis'
  | 'memoryMiB'
  | 'avoidHostId'
  | 'holdsQuota'
  | 'portConflicts'

/** A PENDING replica whose wait is over. */
export interface WaitingReplica extends Pick<Replica, ReplicaColumns> {
  /** The host that a replica is to leave for which this one was started, while that one is there (R15). It gets no place on it. */
  readonly bannedHostId: HostId | null
  readonly serviceId: ServiceId
  readonly serviceName: string
  readonly projectId: ProjectId
  readonly queuePriority: number
  readonly ports: readonly PortDeclaration[]
  readonly spreadMode: SpreadMode
  readonly maxPerHost: number
}

/** How many replicas a project has and may have; `maxReplicas` is null where there is no limit. */
export type PlacementProject = Pick<
  Row<ProjectModel, { id: ProjectId }>,
  'id' | 'name' | 'maxReplicas' | 'usedReplicas'
>

/** What placement gives from, as it was last read; it changes when it is read again. */
export interface Room {
  readonly hosts: Iterable<PlacementHost>
  readonly projects: Iterable<PlacementProject>
}

/** A grant gives one replica a worker, CPU, memory, all its ports and quota at once. */
export interface Grant {
  readonly replicaId: ReplicaId
  readonly hostId: HostId
  readonly hostName: string
  readonly hostAddresses: readonly string[]
  readonly workerId: WorkerId
  /** The host's allocation that the decision was made on; the commit compares it. */
  readonly allocation: number
  readonly ports: readonly AllocatedPort[]
  /** The value that the host's `lastPort` gets. */
  readonly lastPort: number
  /**
   * How much of the host's port range is taken, as a sentence, for a replica whose ports were in use many times in a
   * row (R13); null for the others.
   */
  readonly busyRange: string | null
}

/** Who has a port of a host (R13). */
export type PortHolder =
  | {
      readonly kind: 'replica'
      readonly project: string
      readonly service: string
      readonly index: number
      /** Null unless it is being stopped. `isReachable`: its worker can be reached, so that the stop goes on. */
      readonly stop: { readonly seconds: number; readonly goneAt: Instant; readonly isReachable: boolean } | null
    }
  | { readonly kind: 'lostWorker'; readonly worker: string }
  /** A program that the worker did not start. The port is tried again at `until`, or when its worker sees it free. */
  | { readonly kind: 'outsider'; readonly until: Instant }
  | { readonly kind: 'reservation' }
  /** A replica that the same placement has given it to. */
  | { readonly kind: 'granted'; readonly service: string; readonly index: number }

/** A fixed port that a replica needs and a host does not have free. */
export interface MissingPort {
  readonly hostId: HostId
  readonly hostName: string
  readonly port: number
  readonly protocol: PortProtocol
  /** Null where only the database knows it: a replica, or what a LOST worker may still run. */
  readonly holder: PortHolder | null
}
