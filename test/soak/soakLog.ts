import { isCreation } from '../../src/feed/serviceListChange.ts'
import type { CommittedFact, ServiceFactData } from '../../src/model/fact.ts'
import type { Database } from '../../src/store/database/database.ts'
import { readFacts } from '../../src/store/read/readFacts.ts'

/** Facts and events as they were committed: what a subscriber must hear of an interval (from, to]. */
export class SoakLog {
  readonly #database: Database
  readonly #facts: CommittedFact[] = []
  #events: bigint[] = []
  #eventsUpTo = 0n
  #forgotten = 0n

  constructor(database: Database) {
    this.#database = database
  }

  get head(): bigint {
    return this.#forgotten + BigInt(this.#facts.length)
  }

  /** Takes what was committed since the last call. */
  async take(): Promise<void> {
    const { facts, head } = await readFacts(this.#database, this.head, 1_000_000)
    for (const fact of facts) {
      if (fact.revision !== this.head + 1n) throw new Error(`Revision ${fact.revision} follows ${this.head}.`)
      this.#facts.push(fact)
    }
    const rows = await this.#database.prisma.event.findMany({
      where: { revision: { gt: this.#eventsUpTo, lte: head } },
      orderBy: { revision: 'asc' },
      select: { revision: true },
    })
    this.#events.push(...rows.map(({ revision }) => revision))
    this.#eventsUpTo = head
  }

  /** Nobody will ask for what is at or below `revision`. */
  forget(revision: bigint): void {
    if (revision <= this.#forgotten) return
    this.#facts.splice(0, Number(revision - this.#forgotten))
    this.#forgotten = revision
    this.#events = this.#events.filter((event) => event > revision)
  }

  events(from: bigint, to: bigint): readonly string[] {
    return this.#events.filter((revision) => revision > from && revision <= to).map(String)
  }

  hosts(from: bigint, to: bigint): readonly string[] {
    return unique(
      this.#between(from, to).flatMap((fact) => {
        if (fact.kind === 'change') return fact.data.hosts
        return fact.kind === 'host' && fact.hostId !== null ? [fact.hostId] : []
      }),
    )
  }

  /** Services that changed and are there at the end, and those that went away. */
  services(from: bigint, to: bigint): readonly string[] {
    const first = new Map<string, ServiceFactData>()
    const last = new Map<string, ServiceFactData>()
    for (const fact of this.#between(from, to)) {
      if (fact.kind !== 'change') continue
      if (!first.has(fact.serviceId)) first.set(fact.serviceId, fact.data)
      last.set(fact.serviceId, fact.data)
    }
    return unique(
      [...last].flatMap(([id, data]) => {
        if (data.after.deletedAt == null) return [id]
        const created = first.get(id)
        return created !== undefined && isCreation(created) ? [] : [`removed ${id}`]
      }),
    )
  }

  /** Changes of the services that had this name, one after the other. */
  changesOf(name: string, from: bigint, to: bigint): readonly ServiceFactData[] {
    return this.#between(from, to).flatMap((fact) =>
      fact.kind === 'change' && fact.data.name === name ? [fact.data] : [],
    )
  }

  #between(from: bigint, to: bigint): readonly CommittedFact[] {
    const place = (revision: bigint) => Math.max(0, Number(revision - this.#forgotten))
    return this.#facts.slice(place(from), place(to))
  }
}

export const unique = (list: readonly string[]): string[] => [...new Set(list)].sort()
