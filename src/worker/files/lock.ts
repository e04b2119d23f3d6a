import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { type LockHolder, lockHolder, takeLock } from '../../files/fileLock.ts'
import { UnusableError } from '../withRemedy.ts'

export class StateDirectoryInUseError extends Error {
  override name = 'StateDirectoryInUseError'
  /** The process id of the worker that uses it. */
  readonly holder: number

  constructor(directory: string, holder: number) {
    super(
      `The state directory ${directory} is in use by the worker with process id ${holder}: stop that one, or choose another XCE_WORKER_STATE_DIR.`,
    )
    this.holder = holder
  }
}

/**
 * Locks the state directory for as long as this process lives, making it if it is missing. Throws
 * StateDirectoryInUseError, which says who uses it and what to do, or the system's error.
 */
export async function lockStateDirectory(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const file = lockFileOf(directory)
  const taken = await takeLock(file)
  if ('holder' in taken) throw new StateDirectoryInUseError(directory, pidOf(taken.holder, file))
}

/** The process id of the worker that uses the state directory; null when none does. Throws the system's error. */
export async function holderOf(directory: string): Promise<number | null> {
  const file = lockFileOf(directory)
  const holder = await lockHolder(file)
  return holder === null ? null : pidOf(holder, file)
}

function lockFileOf(directory: string): string {
  return path.join(directory, 'lock')
}

function pidOf({ pid }: LockHolder, file: string): number {
  if (pid !== null) return pid
  throw new UnusableError(`The file ${file} is locked by a process that does not say which it is: stop that one.`)
}
