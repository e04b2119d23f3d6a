import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { addTo } from '../../model/groupBy.ts'

/** One line of the kernel's process table (proc(5), /proc/PID/stat). */
export interface ProcessStat {
  readonly pid: number
  /** Processes in the states Z and X hold nothing and only wait to be collected. */
  readonly dead: boolean
  readonly group: number
  readonly session: number
  /** The start in clock ticks (100 a second) since the machine's start; with the pid it names one process for ever. */
  readonly startTicks: number
}

export const ticksPerSecond = 100

export function parseStat(text: string): ProcessStat | null {
  // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
  const close = text.lastIndexOf(')')
  const fields = text.slice(close + 2).split(' ')
  const [state, , group, session] = fields
  const started = fields[19]
  if (close < 0 || state === undefined || group === undefined || session === undefined || started === undefined)
    return null
  return {
    pid: Number.parseInt(text, 10),
    dead: state === 'Z' || state === 'X',
    group: Number(group),
    session: Number(session),
    startTicks: Number(started),
  }
}

/** One read gives a whole line, which is shorter than this. Sharing the buffer takes a third of readFileSync's time. */
const line = Buffer.alloc(1_024)

export function readStat(pid: number): ProcessStat | null {
  let descriptor: number
  try {
    descriptor = openSync(`/proc/${pid}/stat`, 'r')
  } catch {
    return null
  }
  try {
    return parseStat(line.toString('latin1', 0, readSync(descriptor, line)))
  } catch {
    return null // it ended between the opening and the reading
  } finally {
    closeSync(descriptor)
  }
}

/** True while the process that was started at `startTicks` lives; another process may have got its pid. */
export function isAlive(pid: number, startTicks: number): boolean {
  const stat = readStat(pid)
  return stat !== null && !stat.dead && stat.startTicks === startTicks
}

/** The words of a process's command line; none when the process is gone. */
export function readCommandLine(pid: number): string[] {
  const text = readProc(pid, 'cmdline') ?? ''
  return text === '' ? [] : text.replace(/\0$/, '').split('\0')
}

/** The ids of all processes, also of dead ones that are not collected yet. */
export function readPids(): Set<number> {
  return new Set(readdirSync('/proc').map(Number).filter(Number.isInteger))
}

/**
 * All living processes by session. The reads are synchronous: the kernel makes these files in memory, and one consistent
 * pass over some hundred processes takes a few milliseconds, less than the same reads through the thread pool.
 */
export function readSessions(): Map<number, ProcessStat[]> {
  const sessions = new Map<number, ProcessStat[]>()
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry)
    if (!Number.isInteger(pid)) continue
    const stat = readStat(pid)
    if (stat !== null && !stat.dead) addTo(sessions, stat.session, stat)
  }
  return sessions
}

function readProc(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return null // it ended between the listing and the reading
  }
}
