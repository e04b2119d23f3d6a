import { signalName } from '../machine/signalName.ts'

/** How a process ended. Both null: unknown, because its whole session was killed and nobody was left to write it down. */
export interface Exit {
  readonly code: number | null
  /** Without "SIG", for example KILL. */
  readonly signal: string | null
}

export const unknownExit: Exit = { code: null, signal: null }

/**
 * Reads a shell's `$?`. A shell says 128 + n for a process that signal n ended, and cannot tell that from the same number as an exit code:
 * where such a signal exists it is taken as the signal.
 */
export function exitFromStatus(text: string): Exit | null {
  if (!/^\d+\n$/.test(text)) return null
  const status = Number(text)
  const signal = status > 128 ? signalName(status - 128) : null
  return signal === null ? { code: status, signal: null } : { code: null, signal }
}

/** "exited with code 1", "was ended by SIGKILL". */
export function describeExit(exit: Exit): string {
  if (exit.signal !== null) return `was ended by SIG${exit.signal}`
  return exit.code === null ? 'ended, how is not known' : `exited with code ${exit.code}`
}
