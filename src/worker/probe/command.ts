import { type ChildProcess, spawn } from 'node:child_process'
import { signalGroup } from '../machine/sessions.ts'

/** A probe's command runs in the environment and the working directory of its replica. */
export interface CommandContext {
  readonly environment: Readonly<Record<string, string>>
  readonly workingDirectory: string
}

/** Succeeds when the command exits with 0 in time. A command that takes too long is killed with its process group. */
export function probeCommand(
  command: readonly string[],
  context: CommandContext,
  timeoutMillis: number,
  signal: AbortSignal,
): Promise<string | null> {
  return new Promise((resolve) => {
    const [word = '', ...words] = command
    let child: ChildProcess
    try {
      child = spawn(word, words, {
        cwd: context.workingDirectory,
        env: context.environment,
        detached: true,
        stdio: 'ignore',
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
      if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL') // ends what the command left in the background
      settle(code === 0 ? null : `${word} ${by === null ? `exited with code ${code}` : `was ended by ${by}`}`)
    })
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
