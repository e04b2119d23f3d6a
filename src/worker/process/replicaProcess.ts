import type { ChildProcess } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { orAbort, within } from '../abort.ts'
import type { ReplicaName } from '../assignment.ts'
import type { Exit } from '../files/exit.ts'
import type { ExitFiles } from '../files/exitFiles.ts'
import { bootSeconds } from '../machine/bootClock.ts'
import { readStat, ticksPerSecond } from '../machine/processTable.ts'
import { type Belonging, type Sessions, signalGroup } from '../machine/sessions.ts'
import { signalOf } from '../machine/signalName.ts'
import { type FoundLaunch, isLaunchLine } from './launch.ts'

/** A replica's running session. Its pid is also the id of the session and of the process group. */
export interface ReplicaProcess {
  readonly pid: number
  readonly startTicks: number
  /** The end of the command. It never settles once the worker has ended its supervision. */
  readonly exited: Promise<Exit>
}

export function ownProcess(child: ChildProcess, replica: ReplicaName, start: number, exits: ExitFiles): ReplicaProcess {
  const pid = child.pid ?? 0
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (_code, signal) => {
      // The status of the shell line is not the command's. When even the line was killed, its signal is all that is known.
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
  /** The name without "SIG". */
  readonly signal: string
  readonly graceSeconds: number
}

/** How long the shell line gets to write the status of a command that was killed. */
const statusMillis = 1_000

/**
 * Ends a replica. The whole group and all else that belongs to it get the signal, and what is left after the grace gets
 * SIGKILL. The shell line is killed last, because it writes down how the command ended. On return nothing of it lives.
 */
export async function terminate(
  process: ReplicaProcess,
  belonging: Belonging,
  how: Termination,
  sessions: Sessions,
  signal: AbortSignal,
): Promise<Exit> {
  await waitForCommand(process, belonging, sessions, signal)
  const stop = signalOf(how.signal)
  const kills = stop === 'SIGKILL' || stop === 9
  const graceMillis = kills ? 0 : how.graceSeconds * 1_000
  const deadline = performance.now() + graceMillis
  if (!kills) {
    signalGroup(process.pid, stop)
    await sessions.signalOutside(process.pid, belonging, stop)
  }
  if (kills || !(await within(process.exited, graceMillis, signal))) {
    await sessions.clear(belonging, { patienceMillis: 0, spared: process.pid, signal })
    await within(process.exited, statusMillis, signal)
  }
  await sessions.clear(belonging, { patienceMillis: Math.max(0, deadline - performance.now()), spared: null, signal })
  return orAbort(process.exited, signal)
}

/** In a session of this age the shell line has started its command long ago. */
const settledSeconds = 2

/**
 * Waits until a new session runs its command. An earlier signal would reach only the shell line, which catches all
 * signals, so the command would never get it.
 */
async function waitForCommand(
  process: ReplicaProcess,
  belonging: Belonging,
  sessions: Sessions,
  signal: AbortSignal,
): Promise<void> {
  while (bootSeconds() - process.startTicks / ticksPerSecond < settledSeconds) {
    const members = await sessions.membersOf({ ...belonging, mark: null })
    if (members.length === 0 || members.some(({ pid }) => !isLaunchLine(pid))) return
    await wait(2, undefined, { signal })
  }
}
