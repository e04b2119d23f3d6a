/** Pseudo-random numbers by a seed (mulberry32): the same seed, the same run as far as time allows. */
export class Rng {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** 0 to `bound` − 1. */
  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }

  of<T>(list: readonly T[]): T {
    const chosen = list[this.below(list.length)]
    if (chosen === undefined) throw new Error('The list is empty.')
    return chosen
  }

  /** One of its own for a concurrent part, so that the parts don't disturb each other's numbers. */
  fork(): Rng {
    return new Rng(this.below(2 ** 31))
  }
}
