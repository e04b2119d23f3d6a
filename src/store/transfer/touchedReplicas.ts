import type { Revision } from '../../model/id.ts'
import type { MigrationConnection } from '../database/migrate.ts'
import { TransferError } from './format.ts'

const factsPerPage = 1_000

/** The replicas that were created, changed or ended after a revision, according to the facts. */
export class TouchedReplicas {
  readonly #connection: MigrationConnection
  readonly #ids = new Set<string>()
  #cursor: Revision

  constructor(connection: MigrationConnection, after: Revision) {
    this.#connection = connection
    this.#cursor = after
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  /** Reads on to the head. From then on it knows of everything that was committed before the call. */
  async catchUp(): Promise<void> {
    for (;;) {
      // One statement reads floor and facts, because a trim in between would look as if nothing had happened.
      const { rows } = await this.#connection.query(
        `SELECT e."floor"::text AS floor, f."revision"::text AS revision, (f."data" -> 'replicas')::text AS replicas
         FROM "Feed" e LEFT JOIN LATERAL (SELECT * FROM "Fact" WHERE "revision" > $1 ORDER BY "revision" LIMIT ${factsPerPage}) f ON true
         WHERE e."id" = 1 ORDER BY f."revision"`,
        [this.#cursor.toString()],
      )
      const facts = rows as { floor: string; revision: string | null; replicas: string | null }[]
      if (BigInt(facts[0]?.floor ?? 0) > this.#cursor) {
        throw new TransferError(
          'Facts were trimmed faster than the dump could read on: raise XCE_FACTS_KEPT on the servers, or stop them meanwhile.',
        )
      }
      for (const { revision, replicas } of facts) {
        if (revision !== null) this.#cursor = BigInt(revision)
        for (const id of JSON.parse(replicas ?? '[]') as string[]) this.#ids.add(id)
      }
      if (facts.length < factsPerPage) return
    }
  }
}
