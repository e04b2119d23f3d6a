/** Nothing that runs takes that long between two turns of the event loop. */
const sleptMillis = 10_000
const lookEveryMillis = 1_000
/** After it woke, what waited in the system's queues is heard within this time. */
const wakingMillis = 1_000

/**
 * Finds out whether this process was stopped for long (SIGSTOP, a paused machine) and wakes. What waited in its sockets meanwhile is out of date: who
 * sent it was not answered, has gone to another server, and may have said something else there. Taken now, an old registration would fence the worker
 * that has registered elsewhere since.
 */
export class SuspendDetector {
  readonly #now: () => number
  readonly #onWake: () => void
  readonly #looking: NodeJS.Timeout
  #lookedAt: number
  #wakingUntil = Number.NEGATIVE_INFINITY

  /** `onWake`: called once per sleep, before anything is heard. `now`: milliseconds that only grow. */
  constructor(onWake: () => void, now: () => number = () => performance.now()) {
    this.#onWake = onWake
    this.#now = now
    this.#lookedAt = now()
    this.#looking = setInterval(() => this.isWaking(), lookEveryMillis)
    this.#looking.unref()
  }

  /** Ask it of everything that is heard, in the very turn in which it is: true for what should not be taken. */
  isWaking(): boolean {
    const now = this.#now()
    const slept = now - this.#lookedAt > sleptMillis
    this.#lookedAt = now
    if (slept) {
      this.#wakingUntil = now + wakingMillis
      this.#onWake()
    }
    return now < this.#wakingUntil
  }

  stop(): void {
    clearInterval(this.#looking)
  }
}
