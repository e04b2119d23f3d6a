import type { Range } from './random.ts'

/** How the processes of a release behave. Ranges are drawn for each start anew. */
export interface Behaviour {
  /** From the grant to the confirmed process. */
  readonly startSeconds: Range
  /** From the confirmed process to ready; null: never. */
  readonly readyAfterSeconds: Range | null
  /** From the confirmed process to its end by itself, in `crashChance` of the starts; null: it runs until it is stopped. */
  readonly crashAfterSeconds: Range | null
  readonly crashChance: number
  readonly exitCode: number
  /** The share of starts that fail before there is a process. */
  readonly startFailsChance: number
  /** The share of first starts whose ports something else holds (R13). */
  readonly portTakenChance: number
  /** From the signal to the end; what is longer than the grace is cut short by it. */
  readonly stopSeconds: Range
}

const atOnce: Range = { from: 0, to: 0 }

/** Starts at once, ready at once, runs for ever, ends at the signal. */
export const wellBehaved: Behaviour = {
  startSeconds: atOnce,
  readyAfterSeconds: atOnce,
  crashAfterSeconds: null,
  crashChance: 1,
  exitCode: 1,
  startFailsChance: 0,
  portTakenChance: 0,
  stopSeconds: atOnce,
}
