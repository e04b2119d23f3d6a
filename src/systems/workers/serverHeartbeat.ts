import type { Logger } from 'pino'
import type { Instant } from '../../model/id.ts'
import { type Meter, noMeter } from '../../model/metrics.ts'
import { forgetServer, shortenLeases, writeHeartbeat } from '../../store/access/lease.ts'
import type { DatabaseClock } from '../../store/database/clock.ts'
import type { Database } from '../../store/database/database.ts'

/** Heartbeats in a lease: with two of them missing, half of it is over. */
const beatsPerLease = 4

/**
 * This server's heartbeat, a row that it writes again and again. A lease of a worker counts only time in which a server could have taken its renewal
 * (R15): when more than half a lease passed between two beats (the database was away, the process was frozen, the machine slept, the clock was set), every
 * lease starts anew here.
 */
export class ServerHeartbeat {
  readonly #database: Database
  readonly #clock: DatabaseClock
  readonly #log: Logger
  readonly #meter: Meter
  readonly #leaseSeconds: number
  readonly #onAnew: () => void
  #at: Instant = 0
  #countsFrom: Instant = 0
  #beating: Promise<boolean> | null = null
  #interval: NodeJS.Timeout | undefined
  readonly serverId: string

  /** `onAnew` is called when every lease starts anew. */
  constructor(options: {
    readonly database: Database
    readonly clock: DatabaseClock
    readonly log: Logger
    readonly newId: () => string
    readonly meter?: Meter
    readonly leaseSeconds: number
    readonly onAnew: () => void
  }) {
    this.#database = options.database
    this.#clock = options.clock
    this.#log = options.log
    this.#meter = options.meter ?? noMeter
    this.#leaseSeconds = options.leaseSeconds
    this.#onAnew = options.onAnew
    this.serverId = options.newId()
  }

  /** Of the last beat that was written. */
  get at(): Instant {
    return this.#at
  }

  /** Every lease is as good as begun then. */
  get countsFrom(): Instant {
    return this.#countsFrom
  }

  /** Between two beats. */
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

  /** True: it was written. Never rejects: a heartbeat that failed is a late one. */
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
      if (pauseMillis < 0 || pauseMillis > this.#leaseSeconds * 500) this.#beginAnew(pauseMillis)
      return true
    } catch (error) {
      this.#log.warn({ err: error }, 'The heartbeat could not be written.')
      return false
    }
  }

  #beginAnew(pauseMillis: number): void {
    this.#countsFrom = this.#at
    this.#meter.count('leasesAnew')
    this.#log.warn(
      { pauseMillis },
      'This server could not write its heartbeat for more than half a lease, or the database’s clock was set: every lease starts anew.',
    )
    this.#onAnew()
  }
}
