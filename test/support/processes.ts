import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { readStat } from '../../src/worker/processTable.ts'
import { until } from './until.ts'

/** A program of test/program as a command. */
export function program(name: string, ...words: string[]): string[] {
  return [process.execPath, fileURLToPath(new URL(`../program/${name}.mjs`, import.meta.url)), ...words]
}

/** Sends a signal to one process. Not to "no process": 0 would be the test's own group. */
export function kill(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined || !(pid > 1)) throw new Error(`${pid} is no process id.`)
  process.kill(pid, signal)
}

/** Ends a process, and with a replica's shell, which leads a group, its program too. */
export function killGroup(pid: number): void {
  for (const target of [-pid, pid]) killIfThere(target)
}

function killIfThere(target: number): void {
  try {
    process.kill(target, 'SIGKILL')
  } catch {
    // It leads no group, or is gone.
  }
}

export function isRunning(pid: number): boolean {
  const stat = readStat(pid)
  return stat !== null && !stat.dead
}

/** Living processes whose command line or environment holds one of the texts. */
export function processesWith(...texts: string[]): number[] {
  return readdirSync('/proc').flatMap((entry) => {
    const pid = Number(entry)
    if (!Number.isInteger(pid) || pid === process.pid || !isRunning(pid)) return []
    const known = read(pid, 'cmdline') + read(pid, 'environ')
    return texts.some((text) => known.includes(text)) ? [pid] : []
  })
}

/** Expects that within a moment (the leader of a session ends after what it says of its program) there are none of these. */
export async function expectNoProcessWith(...texts: string[]): Promise<void> {
  const left = (): number[] => processesWith(...texts)
  await until(() => left().length === 0, 'no process is left', 3).catch(() => expect(left()).toEqual([]))
}

/** Ends these, also those that come meanwhile, and waits until there are none. */
export async function endProcessesWith(...texts: string[]): Promise<void> {
  await until(
    () => {
      const left = processesWith(...texts)
      for (const pid of left) killIfThere(pid)
      return left.length === 0
    },
    `no process with ${texts.join(' or ')} is left`,
  )
}

const watched = ['TCPServerWrap', 'FSEventWrap', 'UDPWrap', 'TCPSocketWrap']
let before: readonly string[] = []

/** What is open before a test (test/support/eachTest.ts calls it) is not that test's: who leaks fails, and nobody after it in this process. */
export function noteWhatIsOpen(): void {
  before = leftOpen()
}

/**
 * Expects that soon (handles close in the next turn of the loop, and fetch keeps a connection for seconds) this process has no zombie, listener or watch
 * that the test opened.
 */
export async function expectNothingLeft(): Promise<void> {
  const left = (): string[] => withoutEach(leftOpen(), before)
  await until(() => left().length === 0, 'nothing is left', 15).catch(() => expect(left()).toEqual([]))
}

function leftOpen(): string[] {
  const handles = process.getActiveResourcesInfo().filter((name) => watched.includes(name))
  return [...handles, ...zombies().map((pid) => `zombie ${pid}`)]
}

/** The first list without each item of the second once. */
function withoutEach(items: readonly string[], known: readonly string[]): string[] {
  const rest = [...items]
  for (const item of known) {
    const at = rest.indexOf(item)
    if (at >= 0) rest.splice(at, 1)
  }
  return rest
}

/** Children of this process that nobody has collected. */
function zombies(): number[] {
  return readdirSync('/proc').flatMap((entry) => {
    const pid = Number(entry)
    if (!Number.isInteger(pid)) return []
    const parent = Number(/^\d+ \(.*\) \S (\d+)/s.exec(read(pid, 'stat'))?.[1])
    return parent === process.pid && readStat(pid)?.dead === true ? [pid] : []
  })
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
