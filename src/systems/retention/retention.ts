import type { Logger } from 'pino'
import type { Tail } from '../../feed/tail.ts'
import { type Meter, noMeter } from '../../model/metrics.ts'
import type { Retention } from '../../model/retention.ts'
import type { Database } from '../../store/database/database.ts'
import { deletions } from '../../store/retention/deletions.ts'
import { moveFloor } from '../../store/retention/trimFacts.ts'
import { vacuumSteps } from '../../store/retention/vacuum.ts'
import { type StartTimeout, startTimeout } from '../timers/timeout.ts'

/** Facts after which there is enough to trim for a run to be worth it. */
const factsPerRun = 5_000
/** Ages pass without any fact. */
const longestMillis = 3_600_000
const shortestMillis = 1_000
/** A server that is started again and again never counts so many facts, nor sees so much time pass. */
const firstMillis = 10_000
/** A statement deletes at most so many rows, and commits pass between two. */
const rowsPerStatement = 1_000
const pauseMillis = 20

export interface RetentionRunnerOptions {
  readonly database: Database
  readonly tail: Pick<Tail, 'subscribe'>
  readonly retention: Retention
  readonly log: Logger
  readonly meter?: Meter
  readonly setAlarm?: StartTimeout
}

/**
 * Deletes history that is no longer kept, and takes care of the embedded database's tables. A run follows every 5,000 facts, whichever server
 * committed them, an hour without a run, and a start. It makes no fact and nothing waits for it; several servers may do it at once.
 */
export class RetentionRunner {
  readonly #o: RetentionRunnerOptions
  readonly #setAlarm: StartTimeout
  #facts = 0
  #running: Promise<void> | null = null
  #unsubscribe: (() => void) | null = null
  #disarm: (() => void) | null = null
  #armedMillis = 0
  /** Ends a pause at once. */
  #resume: (() => void) | null = null

  constructor(options: RetentionRunnerOptions) {
    this.#o = options
    this.#setAlarm = options.setAlarm ?? startTimeout
  }

  start(): void {
    this.#unsubscribe = this.#o.tail.subscribe((facts) => {
      this.#facts += facts.length
      if (this.#running === null) this.#arm()
    })
    this.#arm(firstMillis)
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.()
    this.#unsubscribe = null
    this.#disarm?.()
    this.#resume?.()
    await this.#running
  }

  /** Sets the alarm for the next run: soon when enough has changed. */
  #arm(idleMillis = longestMillis): void {
    if (this.#unsubscribe === null) return
    const millis = this.#facts >= factsPerRun ? shortestMillis : idleMillis
    if (this.#disarm !== null && this.#armedMillis <= millis) return
    this.#disarm?.()
    this.#armedMillis = millis
    this.#disarm = this.#setAlarm(millis, () => {
      this.#disarm = null
      this.#running ??= this.#run().finally(() => {
        this.#running = null
        this.#arm()
      })
    })
  }

  async #run(): Promise<void> {
    this.#facts = 0
    const { database, log } = this.#o
    try {
      const deleted = await this.#trim()
      const care = this.#unsubscribe === null ? [] : await vacuumSteps(database)
      for (const step of care) {
        if (await this.#pausedAndStopped()) break
        await step()
      }
      log.debug({ deleted, careSteps: care.length }, 'Upkeep is done')
    } catch (error) {
      if (this.#unsubscribe !== null)
        log.warn({ err: error }, 'Upkeep of the database failed: it is tried again later.')
    }
  }

  async #trim(): Promise<Record<string, number>> {
    const { database, retention, meter = noMeter } = this.#o
    const deleted: Record<string, number> = {}
    await moveFloor(database, retention.facts)
    for (const { what, run } of deletions) {
      for (;;) {
        if (await this.#pausedAndStopped()) return deleted
        const rows = await run(database, retention, rowsPerStatement)
        if (rows === 0) break
        deleted[what] = (deleted[what] ?? 0) + rows
        meter.count('trimmed', rows, what)
      }
    }
    return deleted
  }

  async #pausedAndStopped(): Promise<boolean> {
    if (this.#unsubscribe === null) return true
    await new Promise<void>((resolve) => {
      const disarm = this.#setAlarm(pauseMillis, resolve)
      this.#resume = () => {
        disarm()
        resolve()
      }
    })
    this.#resume = null
    return this.#unsubscribe === null
  }
}
