import { dropServerLease, holdServerLease } from '../../store/access/lease.ts'
import type { Database } from '../../store/database/database.ts'

const name = 'placement'
const usualLeaseSeconds = 3

export interface Turn {
  /** 0: it is this server's turn. Otherwise how long another one's goes on, unless that renews it. */
  readonly waitMillis: number
  /** Another server may have had it since the last time. */
  readonly isNew: boolean
}

/**
 * Whose turn it is to place: one server's at a time, by a lease on the database's clock, because placers at once refuse each other's hosts most of the
 * time. Two that both think it is theirs (one was frozen) are slow, never wrong: grants are guarded by the hosts' rows.
 */
export class PlacementTurn {
  readonly #database: Database
  readonly #holder: string
  readonly #leaseSeconds: number
  /** On this process's monotonic clock. */
  #mineUntil = 0
  #othersUntil = 0

  /** `leaseSeconds`: so long after its last run a server that died keeps others from placing. */
  constructor(database: Database, newId: () => string, leaseSeconds = usualLeaseSeconds) {
    this.#database = database
    this.#leaseSeconds = leaseSeconds
    // An embedded database has one server: when that is started again after a crash, it need not wait for itself.
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

  /** Another server may go on at once. */
  async give(): Promise<void> {
    if (this.#mineUntil === 0) return
    this.#mineUntil = 0
    await dropServerLease(this.#database, name, this.#holder)
  }
}
