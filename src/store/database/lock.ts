import { type FileHandle, mkdir, open, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { tryLock } from 'fs-native-extensions'

export class DirectoryInUseError extends Error {
  override name = 'DirectoryInUseError'
}

export interface DirectoryLock {
  release(): Promise<void>
}

/**
 * Takes a data directory for this process, and makes it if it is not there. The kernel drops the lock with the process, however that ends, so a stale one cannot be left.
 * Throws DirectoryInUseError, which names the directory and its holder.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  await makeDirectory(path.resolve(directory))
  // Servers of releases before take the same.
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
  return `The data directory ${directory} is in use by ${by}: stop that one, or choose another XCE_DATA_DIR. Each server has a directory of its own; several are one system by one PostgreSQL (DATABASE_URL).`
}

/** Not by Node's own `recursive`: that never ends where folders can't be made and the system says ENOENT of it, as in /proc. */
async function makeDirectory(directory: string): Promise<void> {
  if (await isDirectory(directory)) return
  const parent = path.dirname(directory)
  if (parent !== directory) await makeDirectory(parent)
  try {
    await mkdir(directory, { mode: 0o700 })
  } catch (error) {
    // Somebody else may just have made it.
    if (!(await isDirectory(directory))) throw error
  }
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true
}
