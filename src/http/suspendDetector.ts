/** A longer time between two turns of the event loop counts as a suspension: a process that runs never takes that long. */
const suspendedMillis = 10_000
const checkEveryMillis = 1_000
/** Within this time after it woke, the process has read what waited in the system's queues. */
const wakingMillis = 1_000

/**
 * Detects that this process was suspended for long (SIGSTOP, a paused machine) and has just woken. What waited in its sockets meanwhile is out of
 * date: its senders got no answer, have gone to another server, and may have sent something else there. An old registration, for example, would fence
 * a worker that has registered elsewhere since.
 */
export class SuspendDetector {
  readonly #now: () => number
  readonly #onWake: () => void
  readonly #checks: NodeJS.Timeout
  #checkedAt: number
  #wakingUntil = Number.NEGATIVE_INFINITY

  /** `onWake` is called once per suspension, before `isWaking` returns true. `now` returns milliseconds that only grow. */
  constructor(onWake: () => void, now: () => number = () => performance.now()) {
    this.#onWake = onWake
    this.#now = now
    this.#checkedAt = now()
    this.#checks = setInterval(() => this.isWaking(), checkEveryMillis)
    this.#checks.unref()
  }

  /** Whether what was just received should be dropped. Callers ask in the same turn of the event loop in which they receive it. */
  isWaking(): boolean {
    const now = this.#now()
    const wasSuspended = now - this.#checkedAt > suspendedMillis
    this.#checkedAt = now
    if (wasSuspended) {
      this.#wakingUntil = now + wakingMillis
      this.#onWake()
    }
    return now < this.#wakingUntil
  }

  stop(): void {
    clearInterval(this.#checks)
  }
}
