/** Compares the number of equal results in a row with the thresholds, as Kubernetes does. */
export class Tally {
  readonly #failureThreshold: number
  readonly #successThreshold: number
  #healthy: boolean
  #against = 0

  constructor(thresholds: { failureThreshold: number; successThreshold: number }, healthy: boolean) {
    this.#failureThreshold = thresholds.failureThreshold
    this.#successThreshold = thresholds.successThreshold
    this.#healthy = healthy
  }

  get healthy(): boolean {
    return this.#healthy
  }

  /** The number of results in a row that contradict `healthy`. */
  get against(): number {
    return this.#against
  }

  /** Returns whether this result changed `healthy`. */
  add(success: boolean): boolean {
    if (success === this.#healthy) {
      this.#against = 0
      return false
    }
    this.#against += 1
    if (this.#against < (success ? this.#successThreshold : this.#failureThreshold)) return false
    this.#healthy = success
    this.#against = 0
    return true
  }
}
