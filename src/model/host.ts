import type { HostScheduling, PortProtocol, Reachability, SpreadMode } from '../generated/prisma/enums.ts'
import type { AllocatedPort, PortDeclaration } from './content.ts'
import type { HostId, Instant, ProjectId, ReplicaId, ServiceId, WorkerId } from './id.ts'

/** A worker as placement sees it: how much room it has on its host. */
export interface PlacementWorker {
  readonly id: WorkerId
  readonly reachability: Reachability
  readonly draining: boolean
  readonly cpuMillis: number
  readonly memoryMiB: number
  readonly usedCpuMillis: number
  readonly usedMemoryMiB: number
}

/** A host as placement sees it at `allocation`. Ports and spread are the host's; room is its workers'. */
export interface PlacementHost {
  readonly id: HostId
  readonly name: string
  readonly addresses: readonly string[]
  readonly scheduling: HostScheduling
  readonly reachability: Reachability
  readonly allocation: number
  readonly workers: readonly PlacementWorker[]
  readonly portFrom: number
  readonly portTo: number
  readonly reservedPorts: readonly number[]
  /** The last port that was given to an "any free" declaration. */
  readonly lastPort: number
  /** Ports that replicas hold, that a LOST worker may still use, or that are in quarantine. */
  readonly takenPorts: readonly {
    readonly port: number
    readonly protocol: PortProtocol
    readonly quarantinedUntil: Instant | null
  }[]
  /** How many alive replicas each service has here. */
  readonly replicasOf: ReadonlyMap<ServiceId, number>
}

/** A PENDING replica whose wait is over. */
export interface WaitingReplica {
  readonly id: ReplicaId
  readonly serviceId: ServiceId
  readonly serviceName: string
  readonly projectId: ProjectId
  readonly queuePriority: number
  readonly createdAt: Instant
  readonly index: number
  readonly cpuMillis: number
  readonly memoryMiB: number
  readonly ports: readonly PortDeclaration[]
  readonly spreadMode: SpreadMode
  readonly maxPerHost: number
  readonly avoidHostId: HostId | null
  readonly holdsQuota: boolean
}

/** How many replicas a project has and may have; `maxReplicas` is null where there is no limit. */
export interface PlacementProject {
  readonly id: ProjectId
  readonly name: string
  readonly maxReplicas: number | null
  readonly usedReplicas: number
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
