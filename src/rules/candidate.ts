import type { AllocatedPort, PortDeclaration } from '../model/content.ts'
import type { PlacementHost } from '../model/host.ts'
import type { Instant, ServiceId } from '../model/id.ts'
import { HostPorts, type PortNeeds } from './ports.ts'

/** What a replica consumes on its host. Replicas with equal `signature` fit on the same hosts. */
export interface Shape {
  readonly cpuMillis: number
  readonly memoryMiB: number
  readonly ports: PortNeeds
  readonly signature: string
}

/** What a host lacks for a shape, the first that it lacks. */
export type Lack = 'cpu' | 'memory' | 'fixedPort' | 'anyPort'

/** A host that takes replicas, and what is left of it while a placement runs: it only gets less. */
export class Candidate {
  readonly host: PlacementHost
  /** Where the load index has it. */
  bucket = -1
  position = -1
  #freeCpuMillis: number
  #freeMemoryMiB: number
  readonly #now: Instant
  /** Made when first asked: most hosts are not. */
  #ports: HostPorts | null = null
  #placed: Map<ServiceId, number> | null = null

  constructor(host: PlacementHost, now: Instant) {
    this.host = host
    this.#now = now
    this.#freeCpuMillis = host.cpuMillis - host.usedCpuMillis
    this.#freeMemoryMiB = host.memoryMiB - host.usedMemoryMiB
  }

  /** The used share of CPU or memory, whichever is more: 0 to 1. */
  get load(): number {
    const { cpuMillis, memoryMiB } = this.host
    if (cpuMillis <= 0 || memoryMiB <= 0) return 1
    return Math.min(1, Math.max(0, 1 - this.#freeCpuMillis / cpuMillis, 1 - this.#freeMemoryMiB / memoryMiB))
  }

  get lastPort(): number {
    return this.#ports?.lastPort ?? this.host.lastPort
  }

  /** Alive replicas of the service here. */
  replicasOf(service: ServiceId): number {
    return (this.host.replicasOf.get(service) ?? 0) + (this.#placed?.get(service) ?? 0)
  }

  fits(shape: Shape): boolean {
    return this.lacks(shape) === null
  }

  lacks(shape: Shape): Lack | null {
    if (shape.cpuMillis > this.#freeCpuMillis) return 'cpu'
    if (shape.memoryMiB > this.#freeMemoryMiB) return 'memory'
    if (shape.ports.count === 0) return null
    this.#ports ??= new HostPorts(this.host, this.#now)
    if (!this.#ports.hasFixed(shape.ports)) return 'fixedPort'
    return this.#ports.hasAny(shape.ports) ? null : 'anyPort'
  }

  /** When a quarantine ends that keeps the shape's ports from being free here. */
  portsFreeAt(shape: Shape): Instant | null {
    return this.#ports?.freeAt(shape.ports) ?? null
  }

  /** Takes CPU, memory and all ports of one replica at once; only where it fits. */
  take(service: ServiceId, shape: Shape, declared: readonly PortDeclaration[]): AllocatedPort[] {
    this.#freeCpuMillis -= shape.cpuMillis
    this.#freeMemoryMiB -= shape.memoryMiB
    this.#placed ??= new Map()
    this.#placed.set(service, (this.#placed.get(service) ?? 0) + 1)
    if (declared.length === 0) return []
    this.#ports ??= new HostPorts(this.host, this.#now)
    return this.#ports.grab(declared)
  }
}
