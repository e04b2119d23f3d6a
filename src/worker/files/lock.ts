import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { tryLock } from 'fs-native-extensions'
import { UnusableError } from '../withRemedy.ts'

export class StateDirectoryInUseError extends Error {
  override name = 'StateDirectoryInUseError'
  /** The process id of the worker that has it. */
  readonly holder: number

  constructor(directory: string, holder: number) {
    super(
      `The state directory ${directory} is in use by the worker with process id ${holder}: stop that one, or choose another XCE_WORKER_STATE_DIR.`,
    )
    this.holder = holder
  }
}

/**
 * Takes the state directory for this process and makes it if it is not there. The kernel drops the lock with the process, however that ends.
 * The file `lock` holds the process id. Throws StateDirectoryInUseError, which says who has it and what to do; and what the system refuses.
 */
export async function lockStateDirectory(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const file = fileOf(directory)
  const descriptor = openSync(file, 'a+', 0o600)
  const holder = await takeLock(descriptor, file)
  if (holder !== null) {
    closeSync(descriptor)
    throw new StateDirectoryInUseError(directory, holder)
  }
  ftruncateSync(descriptor, 0)
  writeSync(descriptor, `${process.pid}\n`)
}

/** The process id of the worker that has the state directory; null: none has. Makes nothing. Throws what the system refuses. */
export async function holderOf(directory: string): Promise<number | null> {
  const file = fileOf(directory)
  let descriptor: number
  try {
    // To be locked it has to be open for writing.
    descriptor = openSync(file, 'r+')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
  try {
    return await takeLock(descriptor, file)
  } finally {
    closeSync(descriptor)
  }
}

function fileOf(directory: string): string {
  return path.join(directory, 'lock')
}

/** Null: taken; otherwise who has it. */
async function takeLock(descriptor: number, file: string): Promise<number | null> {
  for (let tries = 1; !tryLock(descriptor); tries += 1) {
    const holder = Number.parseInt(readFileSync(file, 'utf8'), 10)
    // Who only looks whether a worker runs here takes the lock for a moment too; and who has just taken it has not said its process id yet.
    if (tries >= 20 && holder > 0) return holder
    if (tries >= 200)
      throw new UnusableError(`The file ${file} is locked by a process that does not say which it is: stop that one.`)
    await wait(10)
  }
  return null
}
