import type { AllocatedPort } from '../../model/content.ts'
import type { PlacementHost, PlacementWorker, WaitingReplica } from '../../model/host.ts'
import type { Instant, ServiceId } from '../../model/id.ts'
import { HostPorts, type PortNeeds } from './ports.ts'

/** What a replica takes from a worker and its host. Replicas with equal `signature` fit in the same places. */
export interface Shape {
  readonly cpuMillis: number
  readonly memoryMiB: number
  readonly ports: PortNeeds
  readonly signature: string
}

/** The first thing that a worker lacks for a shape. */
export type Lack = 'cpu' | 'memory' | 'fixedPort' | 'anyPort'

/**
 * A host that takes replicas, while a placement runs: its ports and the counts of services, which its workers share.
 */
export class CandidateHost {
  readonly host: PlacementHost
  readonly #now: Instant
  /** Made when it is first asked for, because most hosts are never asked. */
  #ports: HostPorts | null = null
  #placed: Map<ServiceId, number> | null = null

  constructor(host: PlacementHost, now: Instant) {
    this.host = host
    this.#now = now
  }

  get lastPort(): number {
    return this.#ports?.lastPort ?? this.host.lastPort
  }

  get ports(): HostPorts {
    this.#ports ??= new HostPorts(this.host, this.#now)
    return this.#ports
  }

  /** How many alive replicas of the service are here. */
  replicasOf(service: ServiceId): number {
    return (this.host.replicasOf.get(service) ?? 0) + (this.#placed?.get(service) ?? 0)
  }

  take(replica: WaitingReplica): AllocatedPort[] {
    const { serviceId } = replica
    this.#placed ??= new Map()
    this.#placed.set(serviceId, (this.#placed.get(serviceId) ?? 0) + 1)
    return replica.ports.length === 0 ? [] : this.ports.grab(replica)
  }
}

/** A worker that takes replicas, and what is left of it and its host while a placement runs: it only gets less. */
export class Candidate {
  readonly on: CandidateHost
  readonly worker: PlacementWorker
  /** The worker's place in the load index. */
  bucket = -1
  position = -1
  #freeCpuMillis: number
  #freeMemoryMiB: number

  constructor(on: CandidateHost, worker: PlacementWorker) {
    this.on = on
    this.worker = worker
    this.#freeCpuMillis = worker.cpuMillis - worker.usedCpuMillis
    this.#freeMemoryMiB = worker.memoryMiB - worker.usedMemoryMiB
  }

  get host(): PlacementHost {
    return this.on.host
  }

  /** The used share of CPU or of memory, whichever is higher: 0 to 1. */
  get load(): number {
    const { cpuMillis, memoryMiB } = this.worker
    if (cpuMillis <= 0 || memoryMiB <= 0) return 1
    return Math.min(1, Math.max(0, 1 - this.#freeCpuMillis / cpuMillis, 1 - this.#freeMemoryMiB / memoryMiB))
  }

  fits(shape: Shape): boolean {
    return this.lacks(shape) === null
  }

  lacks(shape: Shape): Lack | null {
    if (shape.cpuMillis > this.#freeCpuMillis) return 'cpu'
    if (shape.memoryMiB > this.#freeMemoryMiB) return 'memory'
    if (shape.ports.count === 0) return null
    const { ports } = this.on
    if (!ports.hasFixed(shape.ports)) return 'fixedPort'
    return ports.hasAny(shape.ports) ? null : 'anyPort'
  }

  /** Takes CPU, memory and all ports of one replica at once. The replica must fit. */
  take(replica: WaitingReplica): AllocatedPort[] {
    this.#freeCpuMillis -= replica.cpuMillis
    this.#freeMemoryMiB -= replica.memoryMiB
    return this.on.take(replica)
  }
}

/**
 * Returns the workers that take replicas, in the order of their hosts: REACHABLE and not being drained, on hosts that
 * are OPEN.
 */
export function candidatesOf(hosts: readonly PlacementHost[], now: Instant): Candidate[] {
  return hosts.flatMap((host) => {
    if (host.scheduling !== 'OPEN') return []
    const on = new CandidateHost(host, now)
    return host.workers.filter(takesReplicas).map((worker) => new Candidate(on, worker))
  })
}

export function takesReplicas({ reachability, draining }: PlacementWorker): boolean {
  return reachability === 'REACHABLE' && !draining
}
