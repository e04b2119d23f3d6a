import { open, readFile } from 'node:fs/promises'
import path from 'node:path'
import { tryLock } from 'fs-native-extensions'

/**
 * The process id of the worker that runs on a state directory; null when none does. A worker holds the lock of its
 * state directory for as long as it lives, however it ends.
 */
export async function runningWorker(stateDirectory: string): Promise<number | null> {
  const file = path.join(stateDirectory, 'lock')
  const handle = await open(file, 'a+', 0o600)
  try {
    if (tryLock(handle.fd)) return null
    const pid = Number.parseInt(await readFile(file, 'utf8'), 10)
    // The lock is held but its file is still empty: the worker is just starting.
    return Number.isNaN(pid) ? await runningWorker(stateDirectory) : pid
  } finally {
    await handle.close()
  }
}
