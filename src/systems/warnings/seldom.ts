const againAfterMillis = 600_000
/** At most this many different things are remembered, because clients can make up names. */
const mostAtOnce = 1_000

/** Remembers what was logged, so that what comes again and again is logged once in ten minutes. */
export class Seldom {
  readonly #now: () => number
  /** When each was logged, the earliest first. */
  readonly #loggedAt = new Map<string, number>()

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Returns whether it is time to log this, and counts it as logged then. */
  isDue(key: string): boolean {
    const now = this.#now()
    for (const [old, at] of this.#loggedAt) {
      if (at + againAfterMillis > now) break
      this.#loggedAt.delete(old)
    }
    if (this.#loggedAt.has(key) || this.#loggedAt.size >= mostAtOnce) return false
    this.#loggedAt.set(key, now)
    return true
  }
}
