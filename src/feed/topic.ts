import type { Revision } from '../model/id.ts'
import { ChangeLog, changesKept, type Entry } from './changeLog.ts'

/** Keeps the last changes of one thing for all who follow it. It exists only while somebody does. */
export class Topic<Change> {
  readonly #wakes = new Set<() => void>()
  #log: ChangeLog<Change>
  #lost = false

  /** `head`: the feed's position when the topic was opened. */
  constructor(head: Revision, kept = changesKept) {
    this.#log = new ChangeLog(head, kept)
  }

  /** True once facts were missed, so that what is known here may be wrong. Subscribers begin again on another topic. */
  get lost(): boolean {
    return this.#lost
  }

  /** The revision of the newest change, or the one at which the topic began. */
  get revision(): Revision {
    return this.#log.head
  }

  get subscribers(): number {
    return this.#wakes.size
  }

  subscribe(wake: () => void): () => void {
    this.#wakes.add(wake)
    return () => this.#wakes.delete(wake)
  }

  /** The changes after `cursor`; null when some are no longer in memory. */
  since(cursor: Revision): readonly Entry<Change>[] | null {
    return this.#log.since(cursor)
  }

  lose(): void {
    this.#lost = true
    this.#wakeSubscribers()
  }

  append(revision: Revision, change: Change): void {
    this.#log.append(revision, change)
    this.#wakeSubscribers()
  }

  protected restart(floor: Revision): void {
    this.#log = new ChangeLog(floor)
  }

  #wakeSubscribers(): void {
    for (const wake of this.#wakes) wake()
  }
}
