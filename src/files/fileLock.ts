import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { tryLock } from 'fs-native-extensions'
import { hasCode } from './systemError.ts'

/** A lock on a file, which this process holds. The kernel drops it with the process, so a stale lock can't be left. */
export interface FileLock {
  release(): void
}

/** The process that holds a lock. The process id is null when the file does not name it. */
export interface LockHolder {
  readonly pid: number | null
}

/** The lock is tried again after this pause. */
const pauseMillis = 10
/** Tries (0.2 s) before the process id in the file is believed: a lookup holds the lock for a moment, too. */
const triesUntilBelieved = 20
/** Tries (2 s) that a holder gets to write its process id. */
const triesUntilNamed = 200

/** Locks a file for this process, making it if it is missing, and writes the process id into it. */
export async function takeLock(file: string): Promise<{ readonly lock: FileLock } | { readonly holder: LockHolder }> {
  const descriptor = openSync(file, 'a+', 0o600)
  try {
    for (let tries = 1; !tryLock(descriptor); tries += 1) {
      const pid = pidIn(file)
      if ((pid !== null && tries >= triesUntilBelieved) || tries >= triesUntilNamed) {
        closeSync(descriptor)
        return { holder: { pid } }
      }
      await wait(pauseMillis)
    }
    ftruncateSync(descriptor, 0)
    writeSync(descriptor, `${process.pid}\n`)
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
  const release = (): void => {
    ftruncateSync(descriptor, 0)
    closeSync(descriptor)
  }
  return { lock: { release } }
}

/** The process that holds the lock of a file; null when none does. A missing file is not made. */
export async function lockHolder(file: string): Promise<LockHolder | null> {
  const descriptor = openIfThere(file)
  if (descriptor === null) return null
  try {
    // The lock is shared, so several lookups at once don't take each other for the holder.
    for (let tries = 1; !tryLock(descriptor, { shared: true }); tries += 1) {
      const pid = pidIn(file)
      if ((pid !== null && (isRunning(pid) || tries >= triesUntilBelieved)) || tries >= triesUntilNamed) return { pid }
      await wait(pauseMillis)
    }
    return null
  } finally {
    closeSync(descriptor)
  }
}

function openIfThere(file: string): number | null {
  try {
    return openSync(file, 'r')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  }
}

function pidIn(file: string): number | null {
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10)
  return pid > 0 ? pid : null
}

/** False for the process id of an earlier holder, which stands in the file until the new one has written its own. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // A process of another user can't be signalled, but it runs.
    return hasCode(error, 'EPERM')
  }
}
