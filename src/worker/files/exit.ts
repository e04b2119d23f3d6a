import { signalName } from '../machine/signalName.ts'

/** How a process ended. Both are null when its whole session was killed, so that nobody was left to write it down. */
export interface Exit {
  readonly code: number | null
  /** The name without "SIG", for example KILL. */
  readonly signal: string | null
}

export const unknownExit: Exit = { code: null, signal: null }

/**
 * Reads a shell's `$?`; null when the text is not complete. A shell reports 128 + n for a process that signal n ended, and
 * a process may exit with the same number: where signal n exists, the number is taken for the signal.
 */
export function exitFromStatus(text: string): Exit | null {
  if (!/^\d+\n$/.test(text)) return null
  const status = Number(text)
  const signal = status > 128 ? signalName(status - 128) : null
  return signal === null ? { code: status, signal: null } : { code: null, signal }
}

/** The predicate of a sentence: "exited with code 1", "was ended by SIGKILL". */
export function describeExit(exit: Exit): string {
  if (exit.signal !== null) return `was ended by SIG${exit.signal}`
  return exit.code === null ? 'ended in an unknown way' : `exited with code ${exit.code}`
}
