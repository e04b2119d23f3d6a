import type { PortProtocol } from '../../generated/prisma/enums.ts'
import type { AllocatedPort, PortDeclaration } from '../../model/content.ts'
import type { PlacementHost, PortHolder, WaitingReplica } from '../../model/host.ts'
import type { Instant } from '../../model/id.ts'
import { listed } from '../../model/listed.ts'

/** What a list of declarations needs from a host. Lists with equal `signature` need the same. */
export interface PortNeeds {
  readonly fixed: readonly { readonly port: number; readonly protocol: PortProtocol }[]
  /** How many "any free" ports are declared. */
  readonly any: Readonly<Record<PortProtocol, number>>
  readonly count: number
  readonly signature: string
}

export function portNeeds(declared: readonly PortDeclaration[]): PortNeeds {
  const fixed: { port: number; protocol: PortProtocol }[] = []
  const any = { TCP: 0, UDP: 0 }
  for (const { port, protocol } of declared) {
    if (port === null) any[protocol]++
    else fixed.push({ port, protocol })
  }
  fixed.sort((a, b) => codeOf(a.port, a.protocol) - codeOf(b.port, b.protocol))
  return {
    fixed,
    any,
    count: declared.length,
    signature: `${any.TCP}/${any.UDP} ${fixed.map(({ port, protocol }) => `${port}${protocol}`).join(' ')}`,
  }
}

/**
 * The free ports of one host (R13). Ports that are held, quarantined or reserved are never given. TCP and UDP are
 * counted apart, and a fixed port may lie outside the host's range.
 */
export class HostPorts {
  /** The last port that was given to an "any free" declaration. */
  lastPort: number
  readonly #from: number
  readonly #to: number
  readonly #reserved: ReadonlySet<number>
  readonly #taken = new Set<number>()
  /** How many ports of the range are free. */
  readonly #free: Record<PortProtocol, number>
  readonly #quarantined = new Map<number, Instant>()
  /** Fixed ports that this placement has given, and to whom. */
  readonly #given = new Map<number, { readonly service: string; readonly index: number }>()

  constructor(host: PlacementHost, now: Instant) {
    this.lastPort = host.lastPort
    this.#from = host.portFrom
    this.#to = host.portTo
    this.#reserved = new Set(host.reservedPorts)
    let size = Math.max(0, this.#to - this.#from + 1)
    for (const port of this.#reserved) if (this.#inRange(port)) size--
    this.#free = { TCP: size, UDP: size }
    for (const { port, protocol, quarantinedUntil } of host.takenPorts) {
      if (quarantinedUntil !== null && quarantinedUntil <= now) continue
      this.#takePort(port, protocol)
      if (quarantinedUntil !== null) this.#quarantined.set(codeOf(port, protocol), quarantinedUntil)
    }
  }

  /** Lists the fixed ports that are not free here, and who has them as far as that is known here. */
  missing({ fixed }: PortNeeds): { port: number; protocol: PortProtocol; holder: PortHolder | null }[] {
    return fixed
      .filter(({ port, protocol }) => !this.#isFree(port, protocol))
      .map(({ port, protocol }) => ({ port, protocol, holder: this.#holderOf(port, codeOf(port, protocol)) }))
  }

  /** Null: a replica of an earlier placement, or what a LOST worker may still run. */
  #holderOf(port: number, code: number): PortHolder | null {
    if (this.#reserved.has(port)) return { kind: 'reservation' }
    const until = this.#quarantined.get(code)
    if (until !== undefined) return { kind: 'outsider', until }
    const given = this.#given.get(code)
    return given === undefined ? null : { kind: 'granted', ...given }
  }

  /** Says how much of the range is taken, for somebody who finds no free port in it. */
  describeRange(hostName: string): string {
    let quarantined = 0
    for (const code of this.#quarantined.keys()) if (this.#inRange(code >> 1)) quarantined++
    let held = -quarantined
    for (const code of this.#taken) if (this.#inRange(code >> 1)) held++
    let reserved = 0
    for (const port of this.#reserved) if (this.#inRange(port)) reserved++
    const parts = [`${are(quarantined)} in quarantine because other programs use them`, `${are(held)} held by replicas`]
    if (reserved > 0) parts.push(`${are(reserved)} reserved`)
    const size = Math.max(0, this.#to - this.#from + 1)
    return `Of the ${size} ports ${this.#from} to ${this.#to} of host ${hostName}, ${listed(parts)}.`
  }

  /** Finds when the quarantine ends that keeps the ports from being free; null where none does. */
  freeAt(needs: PortNeeds): Instant | null {
    const fixed = needs.fixed.filter(({ port, protocol }) => !this.#isFree(port, protocol))
    const ends = fixed.map(
      ({ port, protocol }) => this.#quarantined.get(codeOf(port, protocol)) ?? Number.POSITIVE_INFINITY,
    )
    if (ends.length > 0) return finite(Math.max(...ends))
    let first = Number.POSITIVE_INFINITY
    for (const [code, until] of this.#quarantined) {
      if (this.#inRange(code >> 1) && needs.any[code & 1 ? 'UDP' : 'TCP'] > 0) first = Math.min(first, until)
    }
    return finite(first)
  }

  /** Whether the fixed ports are free here. */
  hasFixed(needs: PortNeeds): boolean {
    return needs.fixed.every(({ port, protocol }) => this.#isFree(port, protocol))
  }

  /** Whether the range has enough "any free" ports beside the fixed ones. */
  hasAny(needs: PortNeeds): boolean {
    let { TCP, UDP } = this.#free
    for (const { port, protocol } of needs.fixed) {
      if (!this.#inRange(port)) continue
      if (protocol === 'TCP') TCP--
      else UDP--
    }
    return (needs.any.TCP === 0 || needs.any.TCP <= TCP) && (needs.any.UDP === 0 || needs.any.UDP <= UDP)
  }

  /** Takes all ports of a replica at once, in the order of their declarations. `hasFixed` and `hasAny` must hold. */
  grab({
    ports: declared,
    serviceName,
    index,
  }: Pick<WaitingReplica, 'ports' | 'serviceName' | 'index'>): AllocatedPort[] {
    for (const { port, protocol } of declared) {
      if (port === null) continue
      this.#takePort(port, protocol)
      this.#given.set(codeOf(port, protocol), { service: serviceName, index })
    }
    return declared.map(({ name, port, protocol }) => ({ name, port: port ?? this.#nextPort(protocol), protocol }))
  }

  /** Finds the next free port after the last given, and starts over at the end of the range. */
  #nextPort(protocol: PortProtocol): number {
    let port = this.lastPort
    for (let tried = this.#from; tried <= this.#to; tried++) {
      port = port < this.#from || port >= this.#to ? this.#from : port + 1
      if (!this.#isFree(port, protocol)) continue
      this.#takePort(port, protocol)
      this.lastPort = port
      return port
    }
    throw new Error(
      `No ${protocol} port of ${this.#from}-${this.#to} is free, though one was counted: the count is wrong.`,
    )
  }

  #isFree(port: number, protocol: PortProtocol): boolean {
    return !this.#reserved.has(port) && !this.#taken.has(codeOf(port, protocol))
  }

  #takePort(port: number, protocol: PortProtocol): void {
    const code = codeOf(port, protocol)
    if (this.#taken.has(code)) return
    this.#taken.add(code)
    if (this.#inRange(port) && !this.#reserved.has(port)) this.#free[protocol]--
  }

  #inRange(port: number): boolean {
    return port >= this.#from && port <= this.#to
  }
}

function are(count: number): string {
  return `${count} ${count === 1 ? 'is' : 'are'}`
}

function finite(instant: Instant): Instant | null {
  return Number.isFinite(instant) ? instant : null
}

function codeOf(port: number, protocol: PortProtocol): number {
  return port * 2 + (protocol === 'UDP' ? 1 : 0)
}
