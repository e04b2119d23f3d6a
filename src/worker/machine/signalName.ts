import { constants } from 'node:os'

const byNumber = new Map<number, string>()
for (const [name, number] of Object.entries(constants.signals))
  if (!byNumber.has(number)) byNumber.set(number, name.slice(3))

/** The name of a signal without "SIG", for example KILL for 9; real-time signals are named RTMIN+0 and so on. */
export function signalName(number: number): string | null {
  return byNumber.get(number) ?? (number >= 34 && number <= 64 ? `RTMIN+${number - 34}` : null)
}

/**
 * The signal of a stop policy as process.kill takes it. The policy gives a name with or without "SIG", or a number; an
 * unknown name counts as TERM.
 */
export function signalOf(text: string): string | number {
  if (/^\d+$/.test(text)) return Number(text)
  const name = text.startsWith('SIG') ? text : `SIG${text}`
  return name in constants.signals ? name : 'SIGTERM'
}
