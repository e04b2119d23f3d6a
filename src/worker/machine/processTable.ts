import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs'

/** One line of the kernel's process table (proc(5), /proc/PID/stat). */
export interface ProcessStat {
  readonly pid: number
  /** The program's name, of at most 15 characters. */
  readonly name: string
  /** Processes in the states Z and X hold nothing and only wait to be collected. */
  readonly dead: boolean
  readonly parent: number
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
  const [state, parent, group, session] = fields
  const started = fields[19]
  if (
    close < 0 ||
    state === undefined ||
    parent === undefined ||
    group === undefined ||
    session === undefined ||
    started === undefined
  )
    return null
  return {
    pid: Number.parseInt(text, 10),
    name: text.slice(text.indexOf('(') + 1, close),
    dead: state === 'Z' || state === 'X',
    parent: Number(parent),
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
 * All living processes. The reads are synchronous: the kernel makes these files in memory, and one consistent pass over some
 * hundred processes takes a few milliseconds, less than the same reads through the thread pool.
 */
export function readProcesses(): ProcessStat[] {
  return [...readPids()].flatMap((pid) => {
    const stat = readStat(pid)
    return stat === null || stat.dead ? [] : [stat]
  })
}

/**
 * Those of the variables that a process of this user has in the environment with which it was started, as `NAME=value`.
 * None when the process is gone or hides its environment.
 */
export function readVariables(pid: number, names: readonly string[]): string[] {
  const all = (readProc(pid, 'environ') ?? '').split('\0')
  const found = all.filter((entry) => names.some((name) => entry.startsWith(`${name}=`)))
  return found.length > 0 && isOwn(pid) ? found : []
}

function isOwn(pid: number): boolean {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === process.geteuid?.()
}

function readProc(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return null // it ended between the listing and the reading
  }
}
