import { constants } from 'node:os'

const byNumber = new Map<number, string>()
for (const [name, number] of Object.entries(constants.signals))
  if (!byNumber.has(number)) byNumber.set(number, name.slice(3))

/** The name without "SIG" of a signal's number, for example KILL for 9; `RT` names for the real-time ones. */
export function signalName(number: number): string | null {
  return byNumber.get(number) ?? (number >= 34 && number <= 64 ? `RTMIN+${number - 34}` : null)
}

/** What process.kill takes, from a stop policy's signal: a name with or without "SIG", or a number. An unknown one counts as TERM. */
export function signalOf(text: string): string | number {
  if (/^\d+$/.test(text)) return Number(text)
  const name = text.startsWith('SIG') ? text : `SIG${text}`
  return name in constants.signals ? name : 'SIGTERM'
}
