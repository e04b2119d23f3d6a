import type { Logger } from 'pino'
import type { CommittedFact, ServiceFactData } from '../model/fact.ts'
import type { Instant } from '../model/id.ts'
import { type Meter, noMeter } from '../model/metrics.ts'
import type { Clock } from '../store/clock.ts'
import type { Committer } from '../store/commit/committer.ts'
import type { Database } from '../store/database.ts'
import { readDueServices, readEarliestDue } from '../store/readDue.ts'
import type { Tail } from '../store/tail.ts'

/** Services whose timers are run in one go. */
const atOnce = 256
/** The longest that one setTimeout can wait is 24.8 days. */
const longestMillis = 86_400_000
/** After a run that failed, or that left what it ran still due. */
const againAfterMillis = 1_000

/**
 * Runs the rules of a service when a timer of it is due. Timers are rows; here is one wake-up, for the earliest. It is armed from the rows at
 * the start and from every fact after that, whichever server committed it, so that every server wakes for a dead one's timers. Rows are read
 * and never locked: the commit of the `tick` deletes what was due, and a second server's `tick` finds nothing to do.
 */
export class Timers {
  readonly #database: Database
  readonly #committer: Committer
  readonly #clock: Clock
  readonly #tail: Tail
  readonly #log: Logger
  readonly #meter: Meter
  #wakeAt: Instant | null = null
  #wake: NodeJS.Timeout | undefined
  #running: Promise<void> | null = null
  /** Woken while a run was under way, which may have read the rows already. */
  #again = false
  #unsubscribe: (() => void) | null = null
  #leaveClock: (() => void) | null = null

  constructor(options: {
    readonly database: Database
    readonly committer: Committer
    readonly clock: Clock
    readonly tail: Tail
    readonly log: Logger
    readonly meter?: Meter
  }) {
    this.#database = options.database
    this.#committer = options.committer
    this.#clock = options.clock
    this.#tail = options.tail
    this.#log = options.log
    this.#meter = options.meter ?? noMeter
  }

  async start(): Promise<void> {
    this.#unsubscribe = this.#tail.subscribe(
      (facts) => this.#take(facts),
      () => this.#arm(this.#clock.now()),
    )
    // What it waits for comes sooner or later then than the wake-up that is set.
    this.#leaveClock = this.#clock.onStep(() => this.#armAgain())
    const earliest = await readEarliestDue(this.#database)
    if (earliest !== null) this.#arm(earliest)
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.()
    this.#unsubscribe = null
    this.#leaveClock?.()
    clearTimeout(this.#wake)
    await this.#running
  }

  #take(facts: readonly CommittedFact[]): void {
    for (const fact of facts) {
      const dueAt = fact.kind === 'change' ? (fact.data as ServiceFactData).dueAt : null
      if (dueAt !== null) this.#arm(dueAt)
    }
  }

  /** Wakes at `dueAt` at the latest. */
  #arm(dueAt: Instant): void {
    if (this.#unsubscribe === null || (this.#wakeAt !== null && this.#wakeAt <= dueAt)) return
    this.#wakeAt = dueAt
    clearTimeout(this.#wake)
    const wait = Math.min(Math.max(dueAt - this.#clock.now(), 0), longestMillis)
    this.#wake = setTimeout(() => {
      this.#wakeAt = null
      this.#again = this.#running !== null
      this.#running ??= this.#run().finally(() => {
        this.#running = null
        if (this.#again) this.#arm(this.#clock.now())
      })
    }, wait)
  }

  #armAgain(): void {
    const dueAt = this.#wakeAt
    this.#wakeAt = null
    if (dueAt !== null) this.#arm(dueAt)
  }

  async #run(): Promise<void> {
    const now = this.#clock.now()
    try {
      const due = await readDueServices(this.#database, now, atOnce)
      this.#meter.count('timerRuns', due.length)
      await Promise.all(due.map((serviceId) => this.#committer.submit(serviceId, { kind: 'tick' })))
      const earliest = await readEarliestDue(this.#database)
      if (earliest === null) return
      // More than one go's worth was due, or another server was faster: go on. What was ticked and is still due must not make a busy loop.
      const left = earliest <= now && due.length < atOnce
      this.#arm(left ? this.#clock.now() + againAfterMillis : earliest)
    } catch (error) {
      this.#log.warn({ err: error }, 'Timers could not be run: trying again in a second.')
      this.#arm(this.#clock.now() + againAfterMillis)
    }
  }
}
