import { signalInWords, signalName } from '../machine/signalName.ts'

/** How a process ended. Both are null when its whole session was killed, so that nobody was left to write it down. */
export interface Exit {
  readonly code: number | null
  /** The name without "SIG", for example KILL. */
  readonly signal: string | null
}

export const unknownExit: Exit = { code: null, signal: null }

/**
 * Reads what the starter's line wrote: the shell's `$?`, and what its `jobs` said of the command, for example
 * `137 [1] + Done(137)` or `137 [1] + Killed`. Null when the text is not complete. A dash whose command ended before its
 * `wait` has only the words. Where a shell has only the number, 128 + n is taken for signal n.
 */
export function exitFromStatus(text: string): Exit | null {
  const [, digits, told = ''] = /^(\d+) (.*)\n$/.exec(text) ?? []
  if (digits === undefined) return null
  const exited = /^\[\d+\]\s*[+-]?\s+(?:Done|Exit)\b\D{0,2}(\d*)/.exec(told)
  if (exited !== null) return { code: Number(exited[1]), signal: null }
  const status = Number(digits)
  const signal = status > 128 ? signalName(status - 128) : null
  if (signal !== null) return { code: null, signal }
  if (told === '') return { code: status, signal: null }
  const words = /^\[\d+\]\s*[+-]?\s+(.+?)(?: \(core dumped\))?(?:\s\s|$)/.exec(told)?.[1] ?? ''
  return { code: null, signal: signalInWords(words) }
}

/** The predicate of a sentence: "exited with code 1", "was ended by SIGKILL". */
export function describeExit(exit: Exit): string {
  if (exit.signal !== null) return `was ended by SIG${exit.signal}`
  return exit.code === null ? 'ended in an unknown way' : `exited with code ${exit.code}`
}
