import type { Revision } from '../../model/id.ts'

/** How many changes behind a subscriber may be and still get their net; one that is further behind gets a SNAPSHOT (R16). */
export const changesKept = 256

interface Entry<Change> {
  readonly revision: Revision
  readonly change: Change
}

/** The last changes of one topic, oldest first: the only queue that the feed has, shared by all subscribers of the topic. */
export class ChangeLog<Change> {
  readonly #entries: Entry<Change>[] = []
  #floor: Revision

  /** `floor`: changes at or below it are not in the log. */
  constructor(floor: Revision) {
    this.#floor = floor
  }

  /** The revision of the newest change, or where the log began. */
  get head(): Revision {
    return this.#entries.at(-1)?.revision ?? this.#floor
  }

  append(revision: Revision, change: Change): void {
    this.#entries.push({ revision, change })
    if (this.#entries.length > changesKept) this.#floor = this.#entries.shift()?.revision ?? this.#floor
  }

  /** The changes after `cursor`, oldest first; null when some of them are no longer kept. */
  since(cursor: Revision): readonly Change[] | null {
    if (cursor < this.#floor) return null
    const first = this.#entries.findIndex((entry) => entry.revision > cursor)
    return first === -1 ? [] : this.#entries.slice(first).map((entry) => entry.change)
  }
}
