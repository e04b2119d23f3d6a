import type { SpreadMode } from '../generated/prisma/enums.ts'
import type { HostModel } from '../generated/prisma/models/Host.ts'
import type { HostPortModel } from '../generated/prisma/models/HostPort.ts'
import type { ProjectModel } from '../generated/prisma/models/Project.ts'
import type { WorkerModel } from '../generated/prisma/models/Worker.ts'
import type { AllocatedPort, PortDeclaration } from './content.ts'
import type { HostId, ProjectId, ReplicaId, ServiceId, WorkerId } from './id.ts'
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

type ReplicaColumns = 'id' | 'createdAt' | 'index' | 'cpuMillis' | 'memoryMiB' | 'avoidHostId' | 'holdsQuota'

/** A PENDING replica whose wait is over. */
export interface WaitingReplica extends Pick<Replica, ReplicaColumns> {
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
}
