import type { HostScheduling, PortProtocol, Reachability } from '../generated/prisma/enums.ts'
import { quarantineSeconds } from '../model/bounds.ts'
import type { PlacementHost } from '../model/host.ts'
import type { HostId, Instant, ServiceId } from '../model/id.ts'
import type { HostUse } from '../rules/change.ts'

interface HeldPort {
  readonly port: number
  readonly protocol: PortProtocol
  quarantinedUntil: Instant | null
  /** Bind failures in a row (R13). */
  conflicts: number
}

/** A host as placement sees it, kept up to date by what services take and give back. */
export class HostLedger implements PlacementHost {
  readonly id: HostId
  readonly name: string
  readonly addresses: readonly string[]
  readonly cpuMillis: number
  readonly memoryMiB: number
  readonly portFrom: number
  readonly portTo: number
  readonly reservedPorts: readonly number[]
  readonly replicasOf: Map<ServiceId, number>
  scheduling: HostScheduling
  reachability: Reachability
  /** Placement is the only one here that takes room, so that no grant can be stale. */
  readonly allocation: number
  usedCpuMillis: number
  usedMemoryMiB: number
  lastPort: number
  readonly #ports = new Map<number, HeldPort>()
  /** Made when asked: most hosts are not, between two changes. */
  #listed: readonly HeldPort[] | null = null

  constructor(host: PlacementHost) {
    this.id = host.id
    this.name = host.name
    this.addresses = host.addresses
    this.scheduling = host.scheduling
    this.reachability = host.reachability
    this.allocation = host.allocation
    this.cpuMillis = host.cpuMillis
    this.memoryMiB = host.memoryMiB
    this.usedCpuMillis = host.usedCpuMillis
    this.usedMemoryMiB = host.usedMemoryMiB
    this.portFrom = host.portFrom
    this.portTo = host.portTo
    this.reservedPorts = host.reservedPorts
    this.lastPort = host.lastPort
    this.replicasOf = new Map(host.replicasOf)
    for (const port of host.takenPorts) this.#ports.set(codeOf(port), { ...port, conflicts: port.quarantinedUntil === null ? 0 : 1 })
  }

  get takenPorts(): readonly HeldPort[] {
    this.#listed ??= [...this.#ports.values()]
    return this.#listed
  }

  count(service: ServiceId, difference: number): void {
    const count = (this.replicasOf.get(service) ?? 0) + difference
    if (count > 0) this.replicasOf.set(service, count)
    else this.replicasOf.delete(service)
  }

  /** Takes and gives back what a commit says. What is broken by that, as a sentence; null: nothing. */
  apply(use: HostUse, now: Instant): string | null {
    this.usedCpuMillis += use.cpuMillis
    this.usedMemoryMiB += use.memoryMiB
    if (use.lastPort !== null) this.lastPort = use.lastPort
    this.#listed = null
    let fault: string | null = null
    for (const port of use.portsReleased) {
      if (!this.#ports.delete(codeOf(port))) fault = `Port ${port.port}/${port.protocol} of host ${this.name} is released and was not held.`
    }
    for (const port of use.portsQuarantined) this.#quarantine(port, now)
    for (const port of use.portsTaken) {
      const held = this.#ports.get(codeOf(port))
      if (held !== undefined && (held.quarantinedUntil === null || held.quarantinedUntil > now)) {
        fault = `Port ${port.port}/${port.protocol} of host ${this.name} is given to two replicas.`
      }
      this.#ports.set(codeOf(port), { ...port, quarantinedUntil: null, conflicts: held?.conflicts ?? 0 })
    }
    const over = this.usedCpuMillis > this.cpuMillis || this.usedMemoryMiB > this.memoryMiB
    if (over && (use.cpuMillis > 0 || use.memoryMiB > 0)) fault = `Host ${this.name} is given more than it has.`
    if (this.usedCpuMillis < 0 || this.usedMemoryMiB < 0) fault = `Host ${this.name} is given back more than was taken.`
    return fault
  }

  /** R13: held for 60 s, doubled with every failure up to 1 h. */
  #quarantine(port: { readonly port: number; readonly protocol: PortProtocol }, now: Instant): void {
    const conflicts = this.#ports.get(codeOf(port))?.conflicts ?? 0
    const seconds = Math.min(quarantineSeconds.last, quarantineSeconds.first * 2 ** conflicts)
    const { port: number, protocol } = port
    this.#ports.set(codeOf(port), { port: number, protocol, quarantinedUntil: now + seconds * 1_000, conflicts: conflicts + 1 })
  }
}

function codeOf({ port, protocol }: { readonly port: number; readonly protocol: PortProtocol }): number {
  return 2 * port + (protocol === 'UDP' ? 1 : 0)
}
