import type { Revision } from '../model/id.ts'

/** So many changes of a service stay in memory. A subscriber that needs older ones has them read from the fact log. */
export const changesKept = 256

/** An entry is one change of what a topic is about, with its position in the fact log. */
export interface Entry<Change> {
  readonly revision: Revision
  readonly change: Change
}

/** Keeps the last changes of one topic, oldest first, once for all subscribers of the topic. */
export class ChangeLog<Change> {
  readonly #entries: Entry<Change>[] = []
  readonly #kept: number
  #floor: Revision

  /** `floor`: changes at or below it are not in the log. */
  constructor(floor: Revision, kept = changesKept) {
    this.#floor = floor
    this.#kept = kept
  }

  /** The revision of the newest change, or where the log began. */
  get head(): Revision {
    return this.#entries.at(-1)?.revision ?? this.#floor
  }

  append(revision: Revision, change: Change): void {
    this.#entries.push({ revision, change })
    if (this.#entries.length > this.#kept) this.#floor = this.#entries.shift()?.revision ?? this.#floor
  }

  /** The changes after `cursor`, oldest first; null when some of them are no longer kept. */
  since(cursor: Revision): readonly Entry<Change>[] | null {
    if (cursor < this.#floor) return null
    if (cursor >= this.head) return []
    return this.#entries.slice(this.#entries.findIndex((entry) => entry.revision > cursor))
  }
}
