import type { Logger } from 'pino'
import type { Instant } from '../../model/id.ts'
import { type Meter, noMeter } from '../../model/metrics.ts'
import { forgetServer, shortenLeases, writeHeartbeat } from '../../store/access/lease.ts'
import type { DatabaseClock } from '../../store/database/clock.ts'
import type { Database } from '../../store/database/database.ts'

/** Four heartbeats fit into a lease: when two of them are missing, half of the lease is over. */
const beatsPerLease = 4

/**
 * This server's heartbeat, a row that it writes again and again. A worker's lease counts only time in which a server
 * could have taken its renewal (R15). When more than half a lease passed between two heartbeats (the database was away,
 * the process was frozen, the machine slept or the clock was set), every lease starts again from that moment.
 */
export class ServerHeartbeat {
  readonly #database: Database
  readonly #clock: DatabaseClock
  readonly #log: Logger
  readonly #meter: Meter
  readonly #leaseSeconds: number
  readonly #onLeasesRestarted: () => void
  #at: Instant = 0
  #countsFrom: Instant = 0
  #beating: Promise<boolean> | null = null
  #interval: NodeJS.Timeout | undefined
  readonly serverId: string

  /** `onLeasesRestarted` is called when every lease starts again. */
  constructor(options: {
    readonly database: Database
    readonly clock: DatabaseClock
    readonly log: Logger
    readonly newId: () => string
    readonly meter?: Meter
    readonly leaseSeconds: number
    readonly onLeasesRestarted: () => void
  }) {
    this.#database = options.database
    this.#clock = options.clock
    this.#log = options.log
    this.#meter = options.meter ?? noMeter
    this.#leaseSeconds = options.leaseSeconds
    this.#onLeasesRestarted = options.onLeasesRestarted
    this.serverId = options.newId()
  }

  /** The instant of the last heartbeat that was written. */
  get at(): Instant {
    return this.#at
  }

  /** Leases that began earlier count as begun at this instant. */
  get countsFrom(): Instant {
    return this.#countsFrom
  }

  /** The milliseconds between two heartbeats. */
  get periodMillis(): number {
    return (this.#leaseSeconds * 1000) / beatsPerLease
  }

  async start(): Promise<void> {
    this.#at = this.#countsFrom = await writeHeartbeat(this.#database, this.serverId)
    this.#interval = setInterval(() => void this.beat(), this.periodMillis)
  }

  async stop(): Promise<void> {
    clearInterval(this.#interval)
    await this.#beating
    await forgetServer(this.#database, this.serverId)
  }

  /** Writes a heartbeat and returns whether it was written. It never rejects: a failed heartbeat is a late one. */
  beat(): Promise<boolean> {
    this.#beating ??= this.#write().finally(() => {
      this.#beating = null
    })
    return this.#beating
  }

  async #write(): Promise<boolean> {
    try {
      const sentAt = this.#clock.mark()
      const at = await writeHeartbeat(this.#database, this.serverId)
      this.#clock.observe(at, sentAt)
      const pauseMillis = at - this.#at
      this.#at = at
      if (pauseMillis < 0) await shortenLeases(this.#database, this.#leaseSeconds)
      if (pauseMillis < 0 || pauseMillis > this.#leaseSeconds * 500) this.#restartLeases(pauseMillis)
      return true
    } catch (error) {
      this.#log.warn({ err: error }, 'The heartbeat could not be written.')
      return false
    }
  }

  #restartLeases(pauseMillis: number): void {
    this.#countsFrom = this.#at
    this.#meter.count('leasesRestarted')
    this.#log.warn(
      { pauseMillis },
      'This server could not write its heartbeat for more than half a lease, or the database’s clock was set: every lease starts again.',
    )
    this.#onLeasesRestarted()
  }
}
