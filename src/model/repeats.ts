import { mostCauses } from './bounds.ts'

/** How often something has happened so far, by its cause. */
export type Repeats = Readonly<Record<string, number>>

/** What a rollout waited for when it was last looked at, and how often it has waited for each cause since its last progress. */
export interface RolloutRepeats {
  readonly cause: string | null
  readonly waits: Repeats
}

/** Causes beyond the bound are counted together, so that neither the memory nor the number of events grows with them. */
export const otherCauses = 'other causes'

export interface Repeat {
  readonly repeats: Repeats
  /** The cause under which it was counted: the given one or `otherCauses`. */
  readonly cause: string
  /** How often it has happened, this time included. */
  readonly count: number
}

/** Counts one more happening. */
export function countRepeat(repeats: Repeats, cause: string): Repeat {
  const isCounted = Object.hasOwn(repeats, cause) || Object.keys(repeats).length < mostCauses
  const key = isCounted ? cause : otherCauses
  const count = (repeats[key] ?? 0) + 1
  return { repeats: { ...repeats, [key]: count }, cause: key, count }
}

/** An event tells the first time and then the 2nd, 4th, 8th …, so that the number of events grows with the logarithm of the repeats. */
export function isTold(count: number): boolean {
  return Number.isInteger(Math.log2(count))
}
