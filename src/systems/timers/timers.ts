import type { Logger } from 'pino'
import type { Tail } from '../../feed/tail.ts'
import type { CommittedFact, ServiceFactData } from '../../model/fact.ts'
import { type Meter, noMeter } from '../../model/metrics.ts'
import type { Committer } from '../../store/commit/committer.ts'
import type { Clock } from '../../store/database/clock.ts'
import type { Database } from '../../store/database/database.ts'
import { readDueServices, readEarliestDue } from '../../store/read/readDue.ts'
import { CoalescedRuns } from './coalescedRuns.ts'
import { DatabaseAlarm } from './databaseAlarm.ts'

/** Services whose timers are run in one go. */
const atOnce = 256
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
  readonly #meter: Meter
  readonly #runs: CoalescedRuns
  readonly #wakeUp: DatabaseAlarm
  #unsubscribe: (() => void) | null = null

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
    this.#meter = options.meter ?? noMeter
    this.#runs = new CoalescedRuns({
      run: () => this.#run(),
      log: options.log,
      failure: 'Timers could not be run',
      againAfterMillis: () => againAfterMillis,
    })
    this.#wakeUp = new DatabaseAlarm(options.clock, () => this.#runs.wake())
  }

  async start(): Promise<void> {
    this.#unsubscribe = this.#tail.subscribe(
      (facts) => this.#take(facts),
      () => this.#runs.wake(),
    )
    const earliest = await readEarliestDue(this.#database)
    if (earliest !== null) this.#wakeUp.arm(earliest)
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.()
    this.#wakeUp.stop()
    await this.#runs.stop()
  }

  #take(facts: readonly CommittedFact[]): void {
    for (const fact of facts) {
      const dueAt = fact.kind === 'change' ? (fact.data as ServiceFactData).dueAt : null
      if (dueAt !== null) this.#wakeUp.arm(dueAt)
    }
  }

  async #run(): Promise<void> {
    const now = this.#clock.now()
    const due = await readDueServices(this.#database, now, atOnce)
    this.#meter.count('timerRuns', due.length)
    await Promise.all(due.map((serviceId) => this.#committer.submit(serviceId, { kind: 'tick' })))
    const earliest = await readEarliestDue(this.#database)
    if (earliest === null) return
    // More than one go's worth was due, or another server was faster: go on. What was ticked and is still due must not make a busy loop.
    const isLeft = earliest <= now && due.length < atOnce
    this.#wakeUp.arm(isLeft ? this.#clock.now() + againAfterMillis : earliest)
  }
}
