import { constants } from 'node:os'

const byNumber = new Map<number, string>()
for (const [name, number] of Object.entries(constants.signals))
  if (!byNumber.has(number)) byNumber.set(number, name.slice(3))

/** The name of a signal without "SIG", for example KILL for 9; real-time signals are named RTMIN+0 and so on. */
export function signalName(number: number): string | null {
  return byNumber.get(number) ?? (number >= 34 && number <= 64 ? `RTMIN+${number - 34}` : null)
}

/** What the C library says of the signals from 1 on (strsignal(3)). */
const words = [
  'Hangup|Interrupt|Quit|Illegal instruction|Trace/breakpoint trap|Aborted|Bus error|Floating point exception|Killed',
  'User defined signal 1|Segmentation fault|User defined signal 2|Broken pipe|Alarm clock|Terminated|Stack fault|Child exited',
  'Continued|Stopped (signal)|Stopped|Stopped (tty input)|Stopped (tty output)|Urgent I/O condition|CPU time limit exceeded',
  'File size limit exceeded|Virtual timer expired|Profiling timer expired|Window changed|I/O possible|Power failure|Bad system call',
].flatMap((line) => line.split('|'))

/** The name of the signal that the C library describes so; null when it is not known. */
export function signalInWords(text: string): string | null {
  const realTime = /^Real-time signal (\d+)$/.exec(text)?.[1]
  return signalName(realTime === undefined ? words.indexOf(text) + 1 : 34 + Number(realTime))
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
