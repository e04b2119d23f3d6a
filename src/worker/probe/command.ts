import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import { within } from '../abort.ts'
import { bootSeconds } from '../machine/bootClock.ts'
import { ticksPerSecond } from '../machine/processTable.ts'
import { type Belonging, markOf, type Sessions, signalGroup } from '../machine/sessions.ts'

/** A probe's command runs in the environment and the working directory of its replica. */
export interface CommandContext {
  readonly sessions: Sessions
  readonly environment: Readonly<Record<string, string>>
  readonly workingDirectory: string
}

/**
 * Succeeds when the command exits with 0 in time. A command that takes too long is killed. What a command leaves behind ends
 * with it: its process group at once. A process that left the group still holds the pipe that the command gets as its
 * descriptor 3, so the process table is searched only when that pipe stays open. What closed it, too, ends with the replica.
 */
export function probeCommand(
  command: readonly string[],
  context: CommandContext,
  timeoutMillis: number,
  signal: AbortSignal,
): Promise<string | null> {
  return new Promise((resolve) => {
    const [word = '', ...words] = command
    const run = randomUUID()
    const sinceTicks = Math.floor(bootSeconds() * ticksPerSecond) - 1
    let child: ChildProcess
    try {
      child = spawn(word, words, {
        cwd: context.workingDirectory,
        env: { ...context.environment, XCE_PROBE_RUN: run },
        detached: true,
        stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
      })
    } catch (error) {
      // Node throws some errors of the system (ENOTDIR, E2BIG …) instead of emitting them.
      resolve(`${word} could not be started: ${error instanceof Error ? error.message : String(error)}`)
      return
    }
    let result: string | null = null
    const kill = (why: string): void => {
      result = why
      if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL')
    }
    const onAbort = (): void => kill('the probe was stopped')
    const timer = setTimeout(() => kill(`${word} did not end within ${timeoutMillis / 1_000} s`), timeoutMillis)
    const settle = (outcome: string | null): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      resolve(result ?? outcome)
    }
    child.once('error', (error) => settle(`${word} could not be started: ${error.message}`))
    child.once('exit', (code, by) => {
      if (child.pid !== undefined) {
        signalGroup(child.pid, 'SIGKILL')
        const mark = markOf('XCE_PROBE_RUN', run)
        void clearLeftovers(child, context.sessions, { session: child.pid, mark, sinceTicks }, signal)
      }
      settle(code === 0 ? null : `${word} ${by === null ? `exited with code ${code}` : `was ended by ${by}`}`)
    })
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

/** How long the kernel gets to close the pipe of what was killed. */
const closeMillis = 100

async function clearLeftovers(
  child: ChildProcess,
  sessions: Sessions,
  belonging: Belonging,
  signal: AbortSignal,
): Promise<void> {
  const pipe = child.stdio[3]
  if (!(pipe instanceof Socket)) return
  pipe.on('error', () => undefined).resume()
  const closed = new Promise<void>((resolve) => pipe.once('close', resolve))
  try {
    if (pipe.destroyed || (await within(closed, closeMillis, signal))) return
    await sessions.clear(belonging, { patienceMillis: 0, spared: null, signal })
  } catch (error) {
    // The replica ends, and everything that its probes left behind ends with it; or the worker ends.
    if (!signal.aborted) throw error
  } finally {
    pipe.destroy()
  }
}
