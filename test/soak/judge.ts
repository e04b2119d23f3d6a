import { randomUUID } from 'node:crypto'
import { compareAddresses, type EndpointAddress } from '../../src/model/endpoint.ts'
import type { Instant, ServiceId } from '../../src/model/id.ts'
import type { ServiceSnapshot } from '../../src/model/service.ts'
import type { Database } from '../../src/store/database/database.ts'
import { loadSnapshots } from '../../src/store/read/snapshot.ts'
import { checkState } from '../property/serviceInvariants.ts'
import { FactAudit } from '../support/models/audit/factAudit.ts'
import type { Chaos } from './chaos.ts'
import type { SoakFollower } from './soakFollower.ts'
import { SoakLog } from './soakLog.ts'
import type { SoakSubscriber } from './soakSubscriber.ts'
import { count, type Tally } from './tally.ts'

/** Ends that somebody wanted. */
const wanted = ['KILLED', 'SCALED_DOWN', 'REPLACED_BY_ROLLOUT', 'SERVICE_DELETED', 'DRAINED']

/** Of a host, or of one of its workers while others are there. */
const saidOfHost = /^(?:Host|Worker (\S+) on host) (\S+) (is lost|can't be reached|is not judged to be lost)/

/** Its worker was LOST, which is judged by itself. One that a worker came back without is HOST_LOST too, and a fault. */
const isLoss = (reason: string, message: string | null) => reason === 'HOST_LOST' && message === 'its worker was lost'

const became: Readonly<Record<string, string>> = {
  'is lost': 'lost',
  "can't be reached": 'unreachable',
  'is not judged to be lost': 'held by the brake',
}

interface Moment {
  readonly revision: bigint
  readonly addresses: readonly EndpointAddress[]
}

interface States {
  readonly snapshots: readonly ServiceSnapshot[]
  /** The database's clock, not before they were read. */
  readonly now: Instant
}

/** Looks at all that is committed, again and again, while it is written: facts, rows, subscribers, and what ended for no reason. */
export class Judge {
  readonly #database: Database
  readonly #tally: Tally
  readonly #chaos: Chaos
  readonly #subscribers: readonly SoakSubscriber[]
  readonly #followers: readonly SoakFollower[]
  readonly #audit: FactAudit
  /** For what is followed besides endpoints. */
  readonly log: SoakLog
  /** Each endpoint's tables by the name of its services, one after the other. */
  readonly #tables = new Map<string, Moment[]>()
  readonly #ended = new Set<string>()
  #faults = 0
  #events = 0n

  constructor(
    database: Database,
    tally: Tally,
    chaos: Chaos,
    subscribers: readonly SoakSubscriber[],
    followers: readonly SoakFollower[],
  ) {
    this.#database = database
    this.#tally = tally
    this.#chaos = chaos
    this.#subscribers = subscribers
    this.#followers = followers
    this.log = new SoakLog(database)
    this.#audit = new FactAudit(database, (revision, name, { table }) => {
      const moments = this.#tables.get(name) ?? []
      this.#tables.set(name, moments)
      moments.push({ revision, addresses: [...table.values()].sort(compareAddresses) })
    })
  }

  /** The last revision that was judged. */
  get revision(): bigint {
    return this.#audit.revision
  }

  async look(): Promise<void> {
    const states = await this.#loadStates()
    const faults = await this.#audit.look()
    for (const fault of faults.slice(this.#faults)) this.#tally.fault(fault)
    this.#faults = faults.length
    this.#judgeStates(states)
    await this.#judgeEnds()
    await this.#judgeHosts()
    for (const subscriber of this.#subscribers) subscriber.check((name, at) => this.tableAt(name, at), this.revision)
    await this.log.take()
    for (const follower of this.#followers) follower.check(this.log)
    this.#forget()
  }

  tableAt(name: string, revision: bigint): readonly EndpointAddress[] {
    return this.#tables.get(name)?.findLast((moment) => moment.revision <= revision)?.addresses ?? []
  }

  async #loadStates(): Promise<States> {
    const { prisma } = this.#database
    const services = await prisma.service.findMany({ where: { deletedAt: null }, select: { id: true } })
    const snapshots = await loadSnapshots(
      prisma,
      services.map(({ id }) => id as ServiceId),
    )
    const [row] = await prisma.$queryRaw<
      { now: number }[]
    >`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`
    return { snapshots: [...snapshots.values()], now: row?.now ?? 0 }
  }

  #judgeStates({ snapshots, now }: States): void {
    for (const snapshot of snapshots) {
      const table = new Map(this.tableAt(snapshot.name, snapshot.revision).map((address) => [address.id, address]))
      try {
        checkState({ snapshot, table }, { now, newId: randomUUID })
      } catch (error) {
        this.#tally.fault(
          `${snapshot.name} at ${snapshot.revision}: ${error instanceof Error ? error.message : String(error)}`,
        )
      }
    }
  }

  /** Every replica that ended did so because somebody wanted it, its process was killed, or its host was lost. */
  async #judgeEnds(): Promise<void> {
    const rows = await this.#database.prisma.replica.findMany({
      where: { endedAt: { not: null } },
      select: { id: true, index: true, endReason: true, endMessage: true, service: { select: { name: true } } },
    })
    for (const { id, index, endReason, endMessage, service } of rows) {
      if (this.#ended.has(id)) continue
      this.#ended.add(id)
      const reason = endReason ?? 'no reason'
      count(this.#tally.ends, reason)
      if (wanted.includes(reason) || isLoss(reason, endMessage) || this.#chaos.killed.has(`Replica_${id}`)) continue
      this.#tally.fault(`${service.name}[${index}], replica ${id}, was lost: ${reason} (${endMessage}).`)
    }
  }

  /** No worker is lost that was there, and no host whose workers were. */
  async #judgeHosts(): Promise<void> {
    const events = await this.#database.prisma.event.findMany({
      where: { kind: 'HOST', revision: { gt: this.#events } },
      orderBy: { revision: 'asc' },
    })
    for (const { revision, message, at } of events) {
      this.#events = revision
      const [, worker, host = '', what] = saidOfHost.exec(message) ?? []
      if (what === undefined) continue
      count(this.#tally.hosts, became[what] ?? what)
      if (what === 'is lost' && !this.#chaos.mayBeLost(worker ?? null, host, at.getTime()))
        this.#tally.fault(`Host ${host} was lost at ${at.toISOString()}, and its worker was there: ${message}`)
    }
  }

  /** Tables and facts that nobody asks for any more. */
  #forget(): void {
    const judged = this.#followers.flatMap((follower) => follower.judged ?? [])
    const [oldest = this.log.head] = judged.sort((a, b) => (a < b ? -1 : 1))
    this.log.forget(oldest)
    const waiting = this.#subscribers.flatMap(({ record }) => record.frames[0]?.revision ?? [])
    const [least = this.revision] = [...waiting, this.revision].sort((a, b) => (a < b ? -1 : 1))
    for (const moments of this.#tables.values()) {
      const last = moments.findLastIndex(({ revision }) => revision <= least)
      if (last > 0) moments.splice(0, last)
    }
  }
}
