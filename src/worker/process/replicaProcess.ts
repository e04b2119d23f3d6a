import type { ChildProcess } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { orAbort, within } from '../abort.ts'
import type { ReplicaName } from '../assignment.ts'
import type { Exit } from '../files/exit.ts'
import type { ExitFiles } from '../files/exitFiles.ts'
import { bootSeconds } from '../machine/bootClock.ts'
import { readStat, ticksPerSecond } from '../machine/processTable.ts'
import type { Sessions } from '../machine/sessions.ts'
import { signalGroup } from '../machine/sessions.ts'
import { signalOf } from '../machine/signalName.ts'
import { type FoundLaunch, isLaunchLine } from './launch.ts'

/** A replica's running session. Its pid is the session's and the group's too. */
export interface ReplicaProcess {
  readonly pid: number
  readonly startTicks: number
  /** The command's end. Never settles once the worker has let go of it. */
  readonly exited: Promise<Exit>
}

export function ownProcess(child: ChildProcess, replica: ReplicaName, start: number, exits: ExitFiles): ReplicaProcess {
  const pid = child.pid ?? 0
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (_code, signal) => {
      // The line's own status says nothing of the command's; its signal does, when even the line was killed.
      resolve(exits.read(replica, start) ?? { code: null, signal: signal === null ? null : signal.slice(3) })
    })
  })
  return { pid, startTicks: readStat(pid)?.startTicks ?? 0, exited }
}

export function adoptedProcess(found: FoundLaunch, exits: ExitFiles): ReplicaProcess {
  return {
    pid: found.pid,
    startTicks: found.startTicks,
    exited: exits.ended(found.replica, found.start, found.pid, found.startTicks),
  }
}

export interface Termination {
  /** Without "SIG". */
  readonly signal: string
  readonly graceSeconds: number
}

/** How long the line that started the replica gets to write the status of a command that was killed. */
const lastWordMillis = 1_000

/**
 * Ends a replica: the signal to the whole group; after the grace SIGKILL to all of its session. The line that started it is killed last,
 * because it writes down how the command ended. On return nothing of the session lives.
 */
export async function terminate(
  process: ReplicaProcess,
  how: Termination,
  sessions: Sessions,
  signal: AbortSignal,
): Promise<Exit> {
  await commandBegun(process, sessions, signal)
  const stop = signalOf(how.signal)
  const kills = stop === 'SIGKILL' || stop === 9
  const graceMillis = kills ? 0 : how.graceSeconds * 1_000
  const deadline = performance.now() + graceMillis
  if (!kills) signalGroup(process.pid, stop)
  if (kills || !(await within(process.exited, graceMillis, signal))) {
    await sessions.clear(process.pid, { patienceMillis: 0, spared: process.pid, signal })
    await within(process.exited, lastWordMillis, signal)
  }
  await sessions.clear(process.pid, { patienceMillis: Math.max(0, deadline - performance.now()), spared: null, signal })
  return orAbort(process.exited, signal)
}

/** A session is this old, in seconds, when its line has long started its command. */
const settledSeconds = 2

/**
 * Waits until a session that has just been started runs its command. Before, a signal would reach only the line that starts it, which catches
 * all signals, and the command would never hear of the stop.
 */
async function commandBegun(process: ReplicaProcess, sessions: Sessions, signal: AbortSignal): Promise<void> {
  while (bootSeconds() - process.startTicks / ticksPerSecond < settledSeconds) {
    const members = await sessions.membersOf(process.pid)
    if (members.length === 0 || members.some(({ pid }) => !isLaunchLine(pid))) return
    await wait(2, undefined, { signal })
  }
}
