import type { Range } from './random.ts'

/** How the processes of a release behave. Each start draws its own values from the ranges. */
export interface Behaviour {
  /** The time from the grant to the confirmed process. */
  readonly startSeconds: Range
  /** The time from the confirmed process to ready; null means never. */
  readonly readyAfterSeconds: Range | null
  /**
   * The time from the confirmed process to its own end, in `crashChance` of the starts; null means that it runs until
   * it is stopped.
   */
  readonly crashAfterSeconds: Range | null
  readonly crashChance: number
  readonly exitCode: number
  /** The share of starts that fail before there is a process. */
  readonly startFailsChance: number
  /** The share of first starts whose ports something else holds (R13). */
  readonly portTakenChance: number
  /** The time from the signal to the end; the grace cuts short what takes longer. */
  readonly stopSeconds: Range
}

const atOnce: Range = { from: 0, to: 0 }

/** A process that starts at once, is ready at once, runs until it is stopped and ends at the signal. */
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
