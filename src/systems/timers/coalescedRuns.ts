import type { Logger } from 'pino'

interface RunsOptions {
  readonly run: () => Promise<void>
  readonly log: Logger
  /** What could not be done; it is logged when a run fails. */
  readonly failure: string
  /** How many milliseconds to wait after a failed run, by the number of failures in a row. */
  readonly againAfterMillis: (failures: number) => number
}

/**
 * Work that looks at everything whenever something may have changed. One run goes on at a time. A wake-up during a run
 * starts one more run afterwards, because the current one may already have read what changed. A failed run is logged
 * and tried again later.
 *
 * States: idle → running → (woken meanwhile) running once more, else idle. `stop` leads to stopped from any state.
 */
export class CoalescedRuns {
  readonly #o: RunsOptions
  #running: Promise<void> | null = null
  #again = false
  #failures = 0
  /** The time of the next delayed run, on the monotonic clock. */
  #laterAt = Number.POSITIVE_INFINITY
  #later: NodeJS.Timeout | undefined
  #stopped = false

  constructor(options: RunsOptions) {
    this.#o = options
  }

  wake(): void {
    if (this.#stopped) return
    this.#again = this.#running !== null
    this.#running ??= this.#run().finally(() => {
      this.#running = null
      if (this.#again) this.wake()
    })
  }

  /** Starts a run in `millis` milliseconds at the latest. */
  wakeWithin(millis: number): void {
    const at = performance.now() + millis
    if (this.#stopped || at >= this.#laterAt) return
    clearTimeout(this.#later)
    this.#laterAt = at
    this.#later = setTimeout(() => {
      this.#laterAt = Number.POSITIVE_INFINITY
      this.wake()
    }, millis)
  }

  /** Resolves when the current run has ended, at once when there is none. It never rejects. */
  async idle(): Promise<void> {
    await this.#running
  }

  /** Resolves when the current run has ended. No run starts after it. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#later)
    await this.#running
  }

  async #run(): Promise<void> {
    const { run, log, failure, againAfterMillis } = this.#o
    try {
      await run()
      this.#failures = 0
    } catch (error) {
      log.warn({ err: error }, `${failure}: trying again.`)
      this.wakeWithin(againAfterMillis(this.#failures++))
    }
  }
}
