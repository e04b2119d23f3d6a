import { mkdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { type FileLock, type LockHolder, takeLock } from '../../files/fileLock.ts'

export class DirectoryInUseError extends Error {
  override name = 'DirectoryInUseError'
}

/**
 * Locks a data directory for this process, and makes it if it is missing. Throws DirectoryInUseError, which names the
 * directory and its holder.
 */
export async function lockDirectory(directory: string): Promise<FileLock> {
  await makeDirectory(path.resolve(directory))
  const taken = await takeLock(path.join(directory, 'database.lock'))
  if ('holder' in taken) throw new DirectoryInUseError(inUse(directory, taken.holder))
  return taken.lock
}

function inUse(directory: string, { pid }: LockHolder): string {
  const by = pid === null ? 'another server' : `the server with process id ${pid}`
  return `The data directory ${directory} is in use by ${by}: stop that one, or choose another XCE_DATA_DIR. Each server has a directory of its own; several are one system by one PostgreSQL (DATABASE_URL).`
}

/**
 * Node's own `recursive` never ends where folders can't be made and the system calls that ENOENT, as in /proc, so this
 * makes one folder after the other.
 */
async function makeDirectory(directory: string): Promise<void> {
  if (await isDirectory(directory)) return
  const parent = path.dirname(directory)
  if (parent !== directory) await makeDirectory(parent)
  try {
    await mkdir(directory, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it at this moment.
    if (!(await isDirectory(directory))) throw error
  }
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true
}
