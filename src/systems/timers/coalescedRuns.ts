import type { Logger } from 'pino'

interface RunsOptions {
  readonly run: () => Promise<void>
  readonly log: Logger
  /** Told when a run fails: what could not be done. */
  readonly failure: string
  /** How long a run that failed waits for the next, by how many failed in a row. */
  readonly againAfterMillis: (failures: number) => number
}

/**
 * Work that looks at everything there is whenever something may have changed. One run at a time; what wakes it during a run makes one more, for that run
 * may have read already what changed. A run that fails is told, and tried again a while later.
 *
 * States: idle → running → (woken meanwhile) running once more, else idle; stopped, from any of them.
 */
export class CoalescedRuns {
  readonly #o: RunsOptions
  #running: Promise<void> | null = null
  #again = false
  #failures = 0
  /** Of the monotonic clock. */
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

  /** Wakes it so many milliseconds from now at the latest. */
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

  /** Resolves when the run that is under way has ended, if there is one. Never rejects. */
  async idle(): Promise<void> {
    await this.#running
  }

  /** Resolves when the run that is under way has ended; there is no other after it. */
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
