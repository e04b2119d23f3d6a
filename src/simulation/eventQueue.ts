import TinyQueue from 'tinyqueue'
import type { Instant } from '../model/id.ts'

interface Entry<Event> {
  readonly at: Instant
  /** Counts the entries, because a heap keeps no order among equal instants. */
  readonly order: number
  readonly event: Event
}

/** Events to come: the earliest comes out first, and among events of one instant the one that was put in first. */
export class EventQueue<Event> {
  readonly #entries = new TinyQueue<Entry<Event>>([], (a, b) => a.at - b.at || a.order - b.order)
  #order = 0

  get size(): number {
    return this.#entries.length
  }

  /** When the next event is due; null when there is none. */
  get nextAt(): Instant | null {
    return this.#entries.peek()?.at ?? null
  }

  /** The next event if it is due at `now`, otherwise undefined. */
  peekDue(now: Instant): Event | undefined {
    const next = this.#entries.peek()
    return next === undefined || next.at > now ? undefined : next.event
  }

  put(at: Instant, event: Event): void {
    this.#entries.push({ at, order: this.#order++, event })
  }

  /** Takes the next event out if it is due at `now`, otherwise returns undefined. */
  takeDue(now: Instant): Event | undefined {
    const event = this.peekDue(now)
    if (event !== undefined) this.#entries.pop()
    return event
  }
}
