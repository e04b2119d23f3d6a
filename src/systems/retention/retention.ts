import type { Logger } from 'pino'
import type { Tail } from '../../feed/tail.ts'
import { type Meter, noMeter } from '../../model/metrics.ts'
import type { Retention } from '../../model/retention.ts'
import type { Database } from '../../store/database/database.ts'
import { deletions } from '../../store/retention/deletions.ts'
import { moveFloor } from '../../store/retention/trimFacts.ts'
import { vacuumSteps } from '../../store/retention/vacuum.ts'
import { type StartTimeout, startTimeout } from '../timers/timeout.ts'

/** A run is worth its cost after this many facts. */
const factsPerRun = 5_000
/** A run follows after one hour in any case, because ages pass without facts too. */
const longestMillis = 3_600_000
const shortestMillis = 1_000
/** The first run follows soon after the start, so that a server which is restarted again and again still trims. */
const firstMillis = 10_000
/** One statement deletes at most this many rows, so that commits pass between two statements. */
const rowsPerStatement = 1_000
const pauseMillis = 20

export interface RetentionRunnerOptions {
  readonly database: Database
  readonly tail: Pick<Tail, 'subscribe'>
  readonly retention: Retention
  readonly log: Logger
  readonly meter?: Meter
  readonly startTimeout?: StartTimeout
}

/**
 * Deletes history that is no longer kept and vacuums the embedded database's tables. A run follows every 5,000 facts
 * (whichever server committed them), an hour without a run, and a start. A run makes no fact and nothing waits for it,
 * so several servers may run at once.
 */
export class RetentionRunner {
  readonly #o: RetentionRunnerOptions
  readonly #startTimeout: StartTimeout
  #facts = 0
  #running: Promise<void> | null = null
  #unsubscribe: (() => void) | null = null
  #disarm: (() => void) | null = null
  #armedMillis = 0
  /** Ends the current pause at once. */
  #resume: (() => void) | null = null

  constructor(options: RetentionRunnerOptions) {
    this.#o = options
    this.#startTimeout = options.startTimeout ?? startTimeout
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

  /** Sets the time-out for the next run; it is short when enough facts have come. */
  #arm(idleMillis = longestMillis): void {
    if (this.#unsubscribe === null) return
    const millis = this.#facts >= factsPerRun ? shortestMillis : idleMillis
    if (this.#disarm !== null && this.#armedMillis <= millis) return
    this.#disarm?.()
    this.#armedMillis = millis
    this.#disarm = this.#startTimeout(millis, () => {
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
      log.debug({ deleted, careSteps: care.length }, 'The history is trimmed')
    } catch (error) {
      if (this.#unsubscribe !== null) log.warn({ err: error }, 'Trimming the history failed; it is tried again later.')
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
      const disarm = this.#startTimeout(pauseMillis, resolve)
      this.#resume = () => {
        disarm()
        resolve()
      }
    })
    this.#resume = null
    return this.#unsubscribe === null
  }
}
