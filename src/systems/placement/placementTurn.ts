import { dropServerLease, holdServerLease } from '../../store/access/lease.ts'
import type { Database } from '../../store/database/database.ts'

const name = 'placement'
const usualLeaseSeconds = 3

export interface Turn {
  /**
   * Zero when it is this server's turn, otherwise the remaining milliseconds of another server's turn unless that
   * renews it.
   */
  readonly waitMillis: number
  /** Whether another server may have had the turn since the last time. */
  readonly isNew: boolean
}

/**
 * Whose turn it is to place. One server places at a time, by a lease on the database's clock, because concurrent
 * placers refuse each other's hosts two thirds of the time. Two servers that both believe it is their turn (one of them
 * was frozen) are slow, never wrong: the hosts' rows guard the grants.
 */
export class PlacementTurn {
  readonly #database: Database
  readonly #holder: string
  readonly #leaseSeconds: number
  /** The end of this server's turn, on its monotonic clock. */
  #mineUntil = 0
  #othersUntil = 0

  /** `leaseSeconds` is how long a server that died keeps the others from placing, counted from its last run. */
  constructor(database: Database, newId: () => string, leaseSeconds = usualLeaseSeconds) {
    this.#database = database
    this.#leaseSeconds = leaseSeconds
    // An embedded database has one server, which need not wait for itself when it is started again after a crash.
    this.#holder = database.kind === 'embedded' ? 'embedded' : newId()
  }

  async take(): Promise<Turn> {
    const askedAt = performance.now()
    if (askedAt < this.#othersUntil) return { waitMillis: this.#othersUntil - askedAt, isNew: true }
    if (askedAt < this.#mineUntil - this.#leaseSeconds * 500) return { waitMillis: 0, isNew: false }
    const isNew = askedAt >= this.#mineUntil
    const { mine, leftMillis } = await holdServerLease(this.#database, name, this.#holder, this.#leaseSeconds)
    this.#mineUntil = mine ? askedAt + leftMillis : 0
    this.#othersUntil = mine ? 0 : performance.now() + Math.max(leftMillis, 1)
    return { waitMillis: mine ? 0 : Math.max(leftMillis, 1), isNew }
  }

  /** Lets another server place at once. */
  async give(): Promise<void> {
    if (this.#mineUntil === 0) return
    this.#mineUntil = 0
    await dropServerLease(this.#database, name, this.#holder)
  }
}
