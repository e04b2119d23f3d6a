import type { Instant } from '../../model/id.ts'
import type { Clock } from '../../store/database/clock.ts'

/** One day. A setTimeout can wait for 24.8 days at most. */
const longestMillis = 86_400_000

/**
 * Rings once, by the database's clock, at the earliest instant it was armed for. It may ring too early, because a long
 * wait is cut into pieces and clocks are set: whoever is called looks at what is due and arms it for the rest.
 */
export class DatabaseAlarm {
  readonly #clock: Clock
  readonly #wake: () => void
  readonly #leaveClock: () => void
  #at: Instant | null = null
  #timeout: NodeJS.Timeout | undefined
  #stopped = false

  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock
    this.#wake = wake
    // A step of the clock moves the awaited instant, so the time-out is set again.
    this.#leaveClock = clock.onStep(() => this.set(this.#at))
  }

  /** Rings at `at` or earlier. */
  arm(at: Instant): void {
    if (this.#at === null || at < this.#at) this.set(at)
  }

  /** Rings at `at` instead of at the instant set before; null disarms it. */
  set(at: Instant | null): void {
    clearTimeout(this.#timeout)
    this.#at = this.#stopped ? null : at
    if (this.#at === null) return
    this.#timeout = setTimeout(
      () => {
        this.#at = null
        this.#wake()
      },
      Math.min(Math.max(this.#at - this.#clock.now(), 0), longestMillis),
    )
  }

  stop(): void {
    this.#stopped = true
    this.set(null)
    this.#leaveClock()
  }
}
