import type { Instant } from '../../model/id.ts'
import type { Database } from './database.ts'

/** The database's clock in epoch milliseconds. It is the only clock that rules, timers and leases use. */
export interface Clock {
  now(): Instant
  /**
   * Calls back when the database's clock was set or the machine slept, until the returned function is called. Whoever
   * waits for an instant may have to arm its timeout again.
   */
  onStep(listener: () => void): () => void
}

/** A larger difference than this is a real step of the database's clock, and is followed even backwards. */
const stepMillis = 1_000

/**
 * The database's clock, carried between its answers by this process's monotonic clock. An answer that says "it was D
 * here" and came between the monotonic instants S (sent) and R (received) proves that the offset is at least D - R and
 * at most D - S. The known offset moves into that range and no further, so a late answer moves nothing. `now` never
 * runs backwards, except at a real step.
 */
export class DatabaseClock implements Clock {
  readonly #monotonic: () => number
  #offset: number | null = null
  #last = Number.NEGATIVE_INFINITY
  readonly #listeners = new Set<() => void>()

  /** `monotonic` returns milliseconds that only grow, so a wall clock does not qualify. */
  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic
  }

  /** Returns the instant to pass as `sentAt` when the answer has come. */
  mark(): number {
    return this.#monotonic()
  }

  /** Takes the clock from an answer that has just come to a statement that was sent at `sentAt` (see `mark`). */
  observe(databaseInstant: Instant, sentAt = this.#monotonic()): void {
    const least = databaseInstant - this.#monotonic()
    const most = Math.max(least, databaseInstant - sentAt)
    const known = this.#offset
    if (known === null || known < least) {
      this.#offset = least
    } else if (known > most) {
      this.#offset = most
      if (known - most > stepMillis) this.#last = Number.NEGATIVE_INFINITY
    }
    if (known !== null && Math.abs((this.#offset ?? known) - known) > stepMillis)
      for (const listener of this.#listeners) listener()
  }

  onStep(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  now(): Instant {
    if (this.#offset === null)
      throw new Error('The database clock was asked before the database answered once: call synchronise first.')
    this.#last = Math.max(this.#last, Math.floor(this.#monotonic() + this.#offset))
    return this.#last
  }
}

/** Asks the database for its clock. */
export async function synchronise(clock: DatabaseClock, database: Database): Promise<void> {
  const sentAt = clock.mark()
  const [row] = await database.prisma.$queryRaw<{ now: Date }[]>`SELECT clock_timestamp() AS now`
  if (row) clock.observe(row.now.getTime(), sentAt)
}
