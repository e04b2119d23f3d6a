import type { HostScheduling, PortProtocol, Reachability } from '../generated/prisma/enums.ts'
import { quarantineSeconds } from '../model/bounds.ts'
import type { PlacementHost, PlacementWorker } from '../model/host.ts'
import type { HostId, Instant, ServiceId, WorkerId } from '../model/id.ts'
import type { Replica } from '../model/service.ts'
import type { HostUse } from '../rules/draft/change.ts'
import { bestOf } from '../rules/hosts/hostState.ts'
import type { HostNow, HostTransition, WorkerNow } from '../rules/hosts/hostTransition.ts'

interface HeldPort {
  readonly port: number
  readonly protocol: PortProtocol
  quarantinedUntil: Instant | null
  /** How often in a row the port could not be bound (R13). */
  conflicts: number
  /** The LOST worker that may still use it (R15). */
  keptFor: WorkerId | null
}

/** A worker as placement and decisions on its host see it, kept up to date. */
type WorkerLedger = { -readonly [Key in keyof (PlacementWorker & WorkerNow)]: (PlacementWorker & WorkerNow)[Key] }

type Room = Pick<Replica, 'cpuMillis' | 'memoryMiB'>

/**
 * A host as placement and decisions on it see it. Its own changes, and what services take and give back, keep it up to
 * date.
 */
export class HostLedger implements PlacementHost, HostNow {
  readonly id: HostId
  readonly name: string
  readonly addresses: readonly string[]
  readonly workers: WorkerLedger[]
  readonly portFrom: number
  readonly portTo: number
  readonly reservedPorts: readonly number[]
  readonly replicasOf: Map<ServiceId, number>
  scheduling: HostScheduling
  reason: string | null = null
  reachabilitySince: Instant
  /** It never changes: nobody but placement takes room here, so no grant can be stale. */
  readonly allocation: number
  lastPort: number
  readonly #ports = new Map<number, HeldPort>()
  /** Made when it is asked for, because between two changes most hosts are never asked. */
  #listed: readonly HeldPort[] | null = null

  constructor(host: PlacementHost, now: Instant) {
    this.id = host.id
    this.name = host.name
    this.addresses = host.addresses
    this.scheduling = host.scheduling
    this.allocation = host.allocation
    this.reachabilitySince = now
    this.workers = host.workers.map(ledgerOf)
    this.portFrom = host.portFrom
    this.portTo = host.portTo
    this.reservedPorts = host.reservedPorts
    this.lastPort = host.lastPort
    this.replicasOf = new Map(host.replicasOf)
    for (const port of host.takenPorts)
      this.#ports.set(codeOf(port), { ...port, conflicts: port.quarantinedUntil === null ? 0 : 1, keptFor: null })
  }

  /** The host is as reachable as the best of its workers. */
  get reachability(): Reachability {
    return bestOf(this.workers)
  }

  get takenPorts(): readonly HeldPort[] {
    this.#listed ??= [...this.#ports.values()]
    return this.#listed
  }

  /**
   * A replica of the service comes to the worker (1) or goes (-1). Returns a sentence about what that breaks; null when
   * nothing.
   */
  count(service: ServiceId, worker: WorkerId | null, room: Room, difference: 1 | -1): string | null {
    const count = (this.replicasOf.get(service) ?? 0) + difference
    if (count > 0) this.replicasOf.set(service, count)
    else this.replicasOf.delete(service)
    const on = this.workers.find(({ id }) => id === worker)
    if (on === undefined) return `Host ${this.name} has no worker ${worker}.`
    on.usedCpuMillis += difference * room.cpuMillis
    on.usedMemoryMiB += difference * room.memoryMiB
    if (on.usedCpuMillis < 0 || on.usedMemoryMiB < 0)
      return `A worker of host ${this.name} is given back more than was taken.`
    const isOver = on.usedCpuMillis > on.cpuMillis || on.usedMemoryMiB > on.memoryMiB
    return isOver && difference > 0 ? `A worker of host ${this.name} is given more than it has.` : null
  }

  addWorker(worker: PlacementWorker): void {
    this.workers.push(ledgerOf(worker))
  }

  /** How many replicas are on the host. */
  countReplicas(): number {
    let count = 0
    for (const own of this.replicasOf.values()) count += own
    return count
  }

  /**
   * Takes over a decision on the host. Simulations leave out two things: nobody is removed, and a loss raises no epoch.
   */
  become({ scheduling, reason, workers }: HostTransition, now: Instant): void {
    const before = this.reachability
    this.scheduling = scheduling
    this.reason = reason
    for (const { id, clean, reachability, reason: why, held, draining } of workers) {
      const worker = this.workers.find((other) => other.id === id)
      if (worker !== undefined) Object.assign(worker, { reachability, reason: why, held, draining })
      if (worker !== undefined && clean) this.#giveBack(worker.id)
    }
    if (this.reachability !== before) this.reachabilitySince = now
  }

  /** Frees the ports that were kept for the worker, which is back and runs nothing. */
  #giveBack(worker: WorkerId): void {
    this.#listed = null
    for (const [code, { keptFor }] of this.#ports) if (keptFor === worker) this.#ports.delete(code)
  }

  /** Takes and gives back the ports of a commit. Returns a sentence about what that breaks; null when nothing. */
  apply(use: HostUse, now: Instant): string | null {
    if (use.lastPort !== null) this.lastPort = use.lastPort
    this.#listed = null
    let fault: string | null = null
    for (const port of use.portsReleased) {
      if (!this.#ports.delete(codeOf(port)))
        fault = `Port ${port.port}/${port.protocol} of host ${this.name} is released and was not held.`
    }
    for (const port of use.portsQuarantined) this.#quarantine(port, now)
    for (const port of use.portsKept) {
      const held = this.#ports.get(codeOf(port))
      if (held === undefined)
        fault = `Port ${port.port}/${port.protocol} of host ${this.name} is kept and was not held.`
      else held.keptFor = port.workerId
    }
    for (const port of use.portsTaken) {
      const held = this.#ports.get(codeOf(port))
      if (held !== undefined && (held.quarantinedUntil === null || held.quarantinedUntil > now)) {
        fault = `Port ${port.port}/${port.protocol} of host ${this.name} is given to two replicas.`
      }
      this.#ports.set(codeOf(port), { ...port, quarantinedUntil: null, conflicts: held?.conflicts ?? 0, keptFor: null })
    }
    return fault
  }

  /** R13: holds the port for 60 s, doubled with every failure up to 1 h. */
  #quarantine(port: { readonly port: number; readonly protocol: PortProtocol }, now: Instant): void {
    const conflicts = this.#ports.get(codeOf(port))?.conflicts ?? 0
    const seconds = Math.min(quarantineSeconds.last, quarantineSeconds.first * 2 ** conflicts)
    const { port: number, protocol } = port
    const quarantinedUntil = now + seconds * 1_000
    this.#ports.set(codeOf(port), { port: number, protocol, quarantinedUntil, conflicts: conflicts + 1, keptFor: null })
  }
}

function ledgerOf(worker: PlacementWorker): WorkerLedger {
  return { ...worker, name: worker.id, reason: null, held: false }
}

function codeOf({ port, protocol }: { readonly port: number; readonly protocol: PortProtocol }): number {
  return 2 * port + (protocol === 'UDP' ? 1 : 0)
}
