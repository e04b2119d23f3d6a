import type { PlacementHost, PlacementProject, WaitingReplica } from '../../../src/model/host.ts'
import type { HostId, Instant, WorkerId } from '../../../src/model/id.ts'

/** A host as plain sets and numbers, for tests that judge a placement. */
export class HostLedger {
  readonly host: PlacementHost
  readonly replicas: Map<string, number>
  /** What is left, by worker. */
  readonly #free: Map<WorkerId, { cpuMillis: number; memoryMiB: number }>
  readonly #blocked: Set<string>

  constructor(host: PlacementHost, now: Instant) {
    this.host = host
    this.#free = new Map(
      host.workers.map(({ id, cpuMillis, memoryMiB, usedCpuMillis, usedMemoryMiB }) => {
        return [id, { cpuMillis: cpuMillis - usedCpuMillis, memoryMiB: memoryMiB - usedMemoryMiB }]
      }),
    )
    this.replicas = new Map(host.replicasOf)
    this.#blocked = new Set(
      host.takenPorts
        .filter((p) => p.quarantinedUntil === null || p.quarantinedUntil > now)
        .map((p) => `${p.port}/${p.protocol}`),
    )
    for (const port of host.reservedPorts)
      for (const protocol of ['TCP', 'UDP']) this.#blocked.add(`${port}/${protocol}`)
  }

  isFree(port: number, protocol: string): boolean {
    return !this.#blocked.has(`${port}/${protocol}`)
  }

  block(port: number, protocol: string): void {
    this.#blocked.add(`${port}/${protocol}`)
  }

  freeOfRange(protocol: string): number[] {
    const { portFrom, portTo } = this.host
    return Array.from({ length: Math.max(0, portTo - portFrom + 1) }, (_, i) => portFrom + i).filter((port) =>
      this.isFree(port, protocol),
    )
  }

  /** Some worker of it can have the replica. */
  allows(replica: WaitingReplica): boolean {
    return this.host.workers.some(({ id }) => this.allowsOn(id, replica))
  }

  allowsOn(worker: WorkerId, replica: WaitingReplica): boolean {
    const fixed = replica.ports.filter((declared) => declared.port !== null)
    const enough = (protocol: string) => {
      const taken = fixed.filter((declared) => declared.protocol === protocol).map((declared) => declared.port)
      const free = this.freeOfRange(protocol).filter((port) => !taken.includes(port))
      const wanted = replica.ports.filter((declared) => declared.port === null && declared.protocol === protocol)
      return wanted.length <= free.length
    }
    return (
      this.#takesReplicas(worker) &&
      replica.cpuMillis <= (this.#free.get(worker)?.cpuMillis ?? 0) &&
      replica.memoryMiB <= (this.#free.get(worker)?.memoryMiB ?? 0) &&
      (replica.spreadMode !== 'STRICT' || this.count(replica) < replica.maxPerHost) &&
      fixed.every((declared) => this.isFree(declared.port ?? 0, declared.protocol)) &&
      enough('TCP') &&
      enough('UDP')
    )
  }

  count(replica: WaitingReplica): number {
    return this.replicas.get(replica.serviceId) ?? 0
  }

  use(worker: WorkerId, replica: WaitingReplica): void {
    const free = this.#free.get(worker)
    if (free === undefined) throw new Error(`Host ${this.host.name} has no worker ${worker}.`)
    free.cpuMillis -= replica.cpuMillis
    free.memoryMiB -= replica.memoryMiB
    this.replicas.set(replica.serviceId, this.count(replica) + 1)
  }

  #takesReplicas(id: WorkerId): boolean {
    const worker = this.host.workers.find((other) => other.id === id)
    return this.host.scheduling === 'OPEN' && worker?.reachability === 'REACHABLE' && !worker.draining
  }
}

export class QuotaLedger {
  readonly #used: Map<string, number>
  readonly #most: Map<string, number>

  constructor(projects: readonly PlacementProject[]) {
    this.#used = new Map(projects.map((project) => [project.id, project.usedReplicas]))
    this.#most = new Map(projects.map((project) => [project.id, project.maxReplicas ?? Number.POSITIVE_INFINITY]))
  }

  allows({ projectId, holdsQuota }: WaitingReplica): boolean {
    return holdsQuota || (this.#used.get(projectId) ?? 0) < (this.#most.get(projectId) ?? 0)
  }

  use({ projectId, holdsQuota }: WaitingReplica): void {
    if (!holdsQuota) this.#used.set(projectId, (this.#used.get(projectId) ?? 0) + 1)
  }
}

/** In the queue's order. */
export function queued(waiting: readonly WaitingReplica[]): WaitingReplica[] {
  return [...waiting].sort(
    (a, b) => b.queuePriority - a.queuePriority || a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1),
  )
}

export function ledgersOf(hosts: readonly PlacementHost[], now: Instant): Map<HostId, HostLedger> {
  return new Map(hosts.map((host) => [host.id, new HostLedger(host, now)]))
}
