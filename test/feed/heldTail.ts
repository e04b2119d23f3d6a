import type { CommittedFact } from '../../src/model/fact.ts'
import type { Revision } from '../../src/model/id.ts'
import type { Database } from '../../src/store/database/database.ts'
import { readFacts } from '../../src/store/read/readFacts.ts'

/** A tail that brings facts only when a test says so: until then the database is ahead of it, as it is under load. */
export class HeldTail {
  readonly #database: Database
  readonly #listeners = new Set<(facts: readonly CommittedFact[]) => void>()
  #head: Revision

  private constructor(database: Database, head: Revision) {
    this.#database = database
    this.#head = head
  }

  static async on(database: Database): Promise<HeldTail> {
    return new HeldTail(database, (await readFacts(database, null, 0)).head)
  }

  get head(): Revision {
    return this.#head
  }

  subscribe(listener: (facts: readonly CommittedFact[]) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Brings at most `most` facts. */
  async bring(most: number): Promise<void> {
    const { facts } = await readFacts(this.#database, this.#head, most)
    const last = facts.at(-1)
    if (last === undefined) return
    this.#head = last.revision
    for (const listener of this.#listeners) listener(facts)
  }
}
