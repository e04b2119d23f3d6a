import { type FileHandle, open, readFile } from 'node:fs/promises'
import path from 'node:path'
import { tryLock } from 'fs-native-extensions'

export class DirectoryInUseError extends Error {
  override name = 'DirectoryInUseError'
}

export interface DirectoryLock {
  release(): Promise<void>
}

/**
 * Takes a data directory for this process. The kernel drops the lock with the process, however that ends, so a stale one cannot be left.
 * Throws DirectoryInUseError, which names the directory and its holder.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const file = path.join(directory, 'database.lock')
  const handle = await open(file, 'a+', 0o600)
  try {
    if (!tryLock(handle.fd)) throw new DirectoryInUseError(await inUse(directory, file))
    await handle.truncate(0)
    await handle.write(`${process.pid}\n`)
  } catch (error) {
    await handle.close()
    throw error
  }
  return { release: () => release(handle) }
}

async function release(handle: FileHandle): Promise<void> {
  await handle.truncate(0)
  await handle.close()
}

async function inUse(directory: string, file: string): Promise<string> {
  const holder = (await readFile(file, 'utf8')).trim()
  const by = holder === '' ? 'another server' : `the server with process id ${holder}`
  return `The data directory ${directory} is in use by ${by}: two servers on one embedded database would destroy it. Stop that one, choose another XCE_DATA_DIR, or use PostgreSQL by DATABASE_URL.`
}
