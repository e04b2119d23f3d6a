import { isDeepStrictEqual } from 'node:util'
import { compareAddresses } from '../../../../src/model/endpoint.ts'
import type { ServiceFactData } from '../../../../src/model/fact.ts'
import type { ReplicaId, ServiceId } from '../../../../src/model/id.ts'
import { addressesOf } from '../../../../src/rules/endpoint/endpoint.ts'
import type { Database } from '../../../../src/store/database/database.ts'
import { loadSnapshots, type Sql } from '../../../../src/store/read/snapshot.ts'
import { judgeRows } from './judgeRows.ts'
import { type Known, ServiceTrail } from './serviceTrail.ts'

interface FactRow {
  readonly revision: string
  readonly serviceId: string | null
  readonly kind: string
  readonly data: string
}

/**
 * Follows the fact log from its beginning and holds every commit, and the tables as they are, to the invariants of src/rules/README.md. It may look again and
 * again, while servers write; each look reads one state of the database.
 */
export class FactAudit {
  /** What was broken, as sentences. */
  readonly faults: string[] = []
  /** By name; of services that share one over time, the last. */
  readonly services = new Map<string, ServiceTrail>()
  readonly #trails = new Map<string, ServiceTrail>()
  /** Whose address it is: host, port and protocol. */
  readonly #holders = new Map<string, { readonly replica: ReplicaId; count: number }>()
  readonly #database: Database
  #cursor = 0n

  readonly #onChange: (revision: bigint, name: string, trail: ServiceTrail) => void

  /** `onChange`: hears of each change of a service once the trail has it. */
  constructor(
    database: Database,
    onChange: (revision: bigint, name: string, trail: ServiceTrail) => void = () => undefined,
  ) {
    this.#database = database
    this.#onChange = onChange
  }

  /** The last revision that it has seen. */
  get revision(): bigint {
    return this.#cursor
  }

  /** Takes what is new. Returns all faults so far. */
  look(): Promise<readonly string[]> {
    return this.#database.prisma.$transaction((sql) => this.lookIn(sql), { isolationLevel: 'RepeatableRead' })
  }

  /** The same inside a transaction, which reads one state. */
  async lookIn(sql: Sql): Promise<readonly string[]> {
    await this.#takeFacts(sql)
    for (const fault of await judgeRows(sql)) this.faults.push(`at ${this.#cursor}: ${fault}`)
    await this.#compareTables(sql)
    return this.faults
  }

  async #takeFacts(sql: Sql): Promise<void> {
    const facts = await sql.$queryRawUnsafe<FactRow[]>(
      `SELECT "revision"::text AS revision, "serviceId", "kind", "data"::text AS data FROM "Fact" WHERE "revision" > $1::bigint ORDER BY "Fact"."revision"`,
      this.#cursor,
    )
    const known = await knownOf(sql)
    for (const { revision, serviceId, kind, data } of facts) {
      if (BigInt(revision) !== this.#cursor + 1n) this.faults.push(`revision ${revision} follows ${this.#cursor}`)
      this.#cursor = BigInt(revision)
      if (kind === 'change' && serviceId !== null) this.#take(serviceId, JSON.parse(data) as ServiceFactData, known)
    }
    const [feed] = await sql.$queryRawUnsafe<{ head: string }[]>(`SELECT "head"::text AS head FROM "Feed"`)
    if (feed?.head !== String(this.#cursor))
      this.faults.push(`the head is ${feed?.head}, the last fact ${this.#cursor}`)
  }

  #take(serviceId: string, data: ServiceFactData, known: Known): void {
    const before = this.#trails.get(serviceId)
    const trail =
      before ?? new ServiceTrail(serviceId, (what) => this.faults.push(`${data.name} at ${this.#cursor}: ${what}`))
    this.#trails.set(serviceId, trail)
    this.services.set(data.name, trail)
    trail.take(data, known)
    for (const address of data.replaced) this.#hold(address, -1)
    for (const address of data.upserted) this.#hold(address, 1)
    this.#onChange(this.#cursor, data.name, trail)
  }

  /** No two alive replicas share host, port and protocol (R13). */
  #hold({ host, port, protocol, replicaId }: ServiceFactData['upserted'][number], by: 1 | -1): void {
    const key = `${host} ${port} ${protocol}`
    const holder = this.#holders.get(key)
    if (holder !== undefined && holder.replica !== replicaId) {
      this.faults.push(`at ${this.#cursor}: ${key} is ${replicaId}'s and ${holder.replica}'s`)
      return
    }
    const count = (holder?.count ?? 0) + by
    if (count <= 0) this.#holders.delete(key)
    else this.#holders.set(key, { replica: replicaId, count })
  }

  /** The tables that the facts add up to are those that follow from the rows. */
  async #compareTables(sql: Sql): Promise<void> {
    const snapshots = await loadSnapshots(sql, [...this.#trails.keys()] as ServiceId[])
    for (const [id, trail] of this.#trails) {
      const snapshot = snapshots.get(id as ServiceId)
      const rows = [...(snapshot?.replicas.values() ?? [])]
      const listed = rows.flatMap((row) =>
        addressesOf(row, (row.hostId !== null && snapshot?.hosts.get(row.hostId)) || null),
      )
      const [fromRows, fromFacts] = [listed, [...trail.table.values()]].map((table) => table.sort(compareAddresses))
      if (isDeepStrictEqual(fromRows, fromFacts)) continue
      this.faults.push(
        `${snapshot?.name} at ${this.#cursor}: the rows list ${JSON.stringify(fromRows)}, the facts ${JSON.stringify(fromFacts)}`,
      )
    }
  }
}

async function knownOf(sql: Sql): Promise<Known> {
  const rows = await sql.$queryRawUnsafe<
    {
      readonly id: string
      readonly service: string
      readonly reason: string | null
      readonly drained: boolean
      readonly silent: boolean
    }[]
  >(
    `SELECT "id", "serviceId" AS service, NOT "hostReachable" AS silent, coalesce("stopReason", "endReason")::text AS reason,
       coalesce("leaving" IN ('DRAIN', 'REQUEUE'), false) OR coalesce("endReason" IN ('DRAINED', 'REQUEUED'), false) AS drained
     FROM "Replica" WHERE "stopReason" IS NOT NULL OR "endReason" IS NOT NULL OR "leaving" IS NOT NULL`,
  )
  const reasons = new Map(rows.map(({ id, reason }) => [id, reason ?? undefined]))
  const drained = new Set(rows.flatMap((row) => (row.drained ? [row.service] : [])))
  const silent = new Set(rows.flatMap((row) => (row.silent ? [row.id] : [])))
  return {
    stopReason: (replica) => reasons.get(replica),
    isSilent: (replica) => silent.has(replica),
    isDrained: (service) => drained.has(service),
  }
}
