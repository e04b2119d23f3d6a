import type { Logger } from 'pino'
import type { Tail } from '../../feed/tail.ts'
import type { CommittedFact } from '../../model/fact.ts'
import { type Meter, noMeter } from '../../model/metrics.ts'
import type { Committer } from '../../store/commit/committer.ts'
import type { Clock } from '../../store/database/clock.ts'
import type { Database } from '../../store/database/database.ts'
import { readDueServices, readEarliestDue } from '../../store/read/readDue.ts'
import { CoalescedRuns } from './coalescedRuns.ts'
import { DatabaseAlarm } from './databaseAlarm.ts'

/** At most this many services run their timers in one round. */
const atOnce = 256
/** The wait after a round that failed, or whose timers are still due. */
const againAfterMillis = 1_000

/**
 * Runs a service's rules when one of its timers is due. Timers are rows; this class has one alarm for the earliest. The
 * alarm is armed from the rows at the start and from every later fact, whichever server committed it, so every server
 * wakes for the timers of a dead one. Rows are read and never locked: the commit of the `tick` deletes what was due,
 * and the `tick` of a second server finds nothing to do.
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
      const dueAt = fact.kind === 'change' ? fact.data.dueAt : null
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
    // More was due than one round takes, or another server was faster: go on. Timers that are still due after their
    // tick must not cause a busy loop.
    const isLeft = earliest <= now && due.length < atOnce
    this.#wakeUp.arm(isLeft ? this.#clock.now() + againAfterMillis : earliest)
  }
}
