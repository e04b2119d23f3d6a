/** A range from the least to the most, both included. */
export interface Range {
  readonly from: number
  readonly to: number
}

/**
 * A small seeded generator (mulberry32): the same seed gives the same numbers everywhere. It is good enough for chance,
 * and not for secrets.
 */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** Draws a number from 0 to 1, without 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  chance(probability: number): boolean {
    // A certain chance draws nothing, so that settings of one replica do not shift the chances of the others.
    if (probability <= 0) return false
    return probability >= 1 || this.next() < probability
  }

  /**
   * Draws from a range of seconds and returns milliseconds, in whole tenths of a second, so that what happens at about
   * the same time is one report.
   */
  millis({ from, to }: Range): number {
    return from === to ? from * 1_000 : Math.round((from + this.next() * (to - from)) * 10) * 100
  }
}
