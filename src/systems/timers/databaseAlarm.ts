import type { Instant } from '../../model/id.ts'
import type { Clock } from '../../store/database/clock.ts'

/** The longest that one setTimeout can wait is 24.8 days. */
const longestMillis = 86_400_000

/**
 * One wake-up, by the database's clock, at the earliest of the instants it was armed for. It may come too early (a long wait is cut in pieces, a
 * clock is set), so that whoever is woken looks what is due, and arms it for the rest.
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
    // What it waits for comes sooner or later then than the time-out that is set.
    this.#leaveClock = clock.onStep(() => this.set(this.#at))
  }

  /** Wakes at `at` at the latest. */
  arm(at: Instant): void {
    if (this.#at === null || at < this.#at) this.set(at)
  }

  /** Wakes at `at`, and not at what was said before; null: not at all. */
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
