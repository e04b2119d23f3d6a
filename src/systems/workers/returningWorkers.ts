import type { Instant } from '../../model/id.ts'
import { countUnheardWorkers } from '../../store/access/lease.ts'
import type { DatabaseClock } from '../../store/database/clock.ts'
import type { Database } from '../../store/database/database.ts'

/** A worker waits at most this long, or a third of the lease, between two tries to connect. */
const mostReconnectSeconds = 5
/** The time for a start of the local worker, or for the first answers of one that has connected. */
const answerSeconds = 2

/**
 * The workers that have ready replicas in the database and have not been heard of since this server started. After a crash of the server nobody
 * has told it which of these replicas ended meanwhile, so it asks for no requests until the workers are back, or are late (R12).
 */
export class ReturningWorkers {
  readonly #database: Database
  readonly #clock: Pick<DatabaseClock, 'now'>
  readonly #startedAt: Instant
  readonly #waitMillis: number
  #areBack = false

  constructor(database: Database, clock: Pick<DatabaseClock, 'now'>, leaseSeconds: number) {
    this.#database = database
    this.#clock = clock
    this.#startedAt = clock.now()
    this.#waitMillis = (Math.min(mostReconnectSeconds, leaseSeconds / 3) + answerSeconds) * 1_000
  }

  /** Counts those that the server still waits for. It is 0 for good as soon as it was 0 once: from then on leases tell who is silent. */
  async count(): Promise<number> {
    if (this.#areBack) return 0
    const isLate = this.#clock.now() - this.#startedAt >= this.#waitMillis
    const unheard = isLate ? 0 : await countUnheardWorkers(this.#database, this.#startedAt)
    this.#areBack = unheard === 0
    return unheard
  }
}
