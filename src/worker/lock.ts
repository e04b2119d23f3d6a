import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { tryLock } from 'fs-native-extensions'

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
 * The file `lock` holds the process id. Throws StateDirectoryInUseError, which says who has it and what to do.
 */
export async function lockStateDirectory(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const file = path.join(directory, 'lock')
  const descriptor = openSync(file, 'a+', 0o600)
  for (let tries = 1; !tryLock(descriptor); tries += 1) {
    // Who only looks whether a worker runs here takes the lock for a moment too.
    if (tries < 20) {
      await wait(10)
      continue
    }
    closeSync(descriptor)
    throw new StateDirectoryInUseError(directory, Number(readFileSync(file, 'utf8')))
  }
  ftruncateSync(descriptor, 0)
  writeSync(descriptor, `${process.pid}\n`)
}
