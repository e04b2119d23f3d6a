import { Random } from '../../src/simulation/random.ts'

/** Choices by a seed: the same seed, the same run as far as time allows. */
export class Rng {
  readonly #random: Random

  constructor(seed: number) {
    this.#random = new Random(seed)
  }

  /** 0 to `bound` − 1. */
  below(bound: number): number {
    return Math.floor(this.#random.next() * bound)
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
