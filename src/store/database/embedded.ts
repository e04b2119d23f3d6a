import { chmod, mkdir, readdir, readFile, rename, rm, statfs, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import type { Logger } from 'pino'
import { lockDirectory } from './lock.ts'
import { pgliteFiles } from './pgliteFiles.ts'

/**
 * The PostgreSQL major version of the PGlite that package.json names. A data directory belongs to one major version.
 */
export const embeddedMajor = 18

export class DataDirectoryError extends Error {
  override name = 'DataDirectoryError'
}

/**
 * This much is kept free, which is room for three segments of the write-ahead log. PostgreSQL ends at once when it has
 * no room for its next segment, and PGlite takes the process with it.
 */
const reservedBytes = 3 * 16_777_216
const lookEveryMillis = 1_000

/**
 * PGlite's own 128 MB of shared buffers are cleared and kept in memory at each opening. The operating system keeps the
 * files in memory anyway, so 32 MB are enough.
 */
const startParams = [...PGlite.defaultStartParams, '-c', 'shared_buffers=32MB']

export interface EmbeddedDatabase {
  readonly pglite: PGlite
  /** Says that the disk has no room left beyond what is kept free. */
  isFull(): Promise<boolean>
  close(): Promise<void>
}

/**
 * Opens `<dataDirectory>/database`, creating it at the first start (some seconds). Throws DirectoryInUseError when another server has it and
 * DataDirectoryError when another major version wrote it.
 */
export async function openEmbedded(dataDirectory: string, log: Logger): Promise<EmbeddedDatabase> {
  const lock = await lockDirectory(dataDirectory)
  try {
    const directory = path.join(dataDirectory, 'database')
    await mkdir(directory, { recursive: true, mode: 0o700 })
    // PGlite makes its files readable for everybody.
    await chmod(directory, 0o700)
    const isNew = await prepare(directory, log)
    const pglite = await PGlite.create({ dataDir: directory, startParams, ...(await pgliteFiles()) })
    // This file says that the directory was made completely.
    if (isNew) await writeFile(stampPath(directory), `${embeddedMajor}\n`, { mode: 0o600 })
    return {
      pglite,
      isFull: roomOf(directory),
      close: async () => {
        await pglite.close()
        lock.release()
      },
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Looks at the disk at most once a second, because it is asked before every commit. */
function roomOf(directory: string): () => Promise<boolean> {
  let lookedAt = Number.NEGATIVE_INFINITY
  let isFull = false
  return async () => {
    if (isFull || performance.now() - lookedAt > lookEveryMillis) {
      const { bavail, bsize } = await statfs(directory)
      isFull = bavail * bsize < reservedBytes
      lookedAt = performance.now()
    }
    return isFull
  }
}

function stampPath(directory: string): string {
  return path.join(directory, 'xce-database')
}

/** Says whether PGlite has to make the database first. */
async function prepare(directory: string, log: Logger): Promise<boolean> {
  const entries = await readdir(directory)
  if (entries.length === 0) {
    log.info(`Making the embedded database in ${directory}; this takes some seconds, once.`)
    return true
  }
  if (!entries.includes('xce-database')) {
    // An earlier first start was killed half-way. Nothing was ever written to this database, but a directory that
    // cannot be read is kept and not deleted.
    const aside = `${directory}.unfinished`
    await rm(aside, { recursive: true, force: true })
    await rename(directory, aside)
    await mkdir(directory, { mode: 0o700 })
    log.warn(
      `${directory} was not made to its end by an earlier first start: it was moved to ${aside}, and a new one is made.`,
    )
    return true
  }
  const major = (await readFile(path.join(directory, 'PG_VERSION'), 'utf8')).trim()
  if (major !== String(embeddedMajor)) throw new DataDirectoryError(wrongMajor(directory, major))
  return false
}

function wrongMajor(directory: string, major: string): string {
  return `The embedded database in ${directory} was written by PostgreSQL ${major}, and this version of XCE Services brings PostgreSQL ${embeddedMajor}. Start the version that wrote it, or move the data: run "npm run dump -- FILE" with that version, move this directory away, and run "npm run load -- FILE" with this one.`
}
