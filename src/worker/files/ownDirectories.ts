import { randomUUID } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { chmod, lstat, readdir, rmdir, unlink } from 'node:fs/promises'
import path from 'node:path'
import type { Logger } from 'pino'
import { hasCode } from '../../files/systemError.ts'
import { type Assignment, isReplicaName, type ReplicaName } from '../assignment.ts'
import type { ReplicaFiles } from './replicaFiles.ts'

type Where = Pick<Assignment, 'replica' | 'workingDirectory'>

/**
 * One directory for each replica, in which its program starts and may write what it likes. It is kept over restarts in
 * place and over restarts of the worker, as long as the replica's log. It holds nothing that belongs to the worker,
 * because many programs serve or change what is in the directory where they start.
 */
export class OwnDirectories {
  readonly #files: ReplicaFiles
  readonly #log: Logger
  readonly #life: AbortSignal
  #sweeping: Promise<void> | null = null

  /** `life` aborts when the worker ends; the next worker removes what is left by then. */
  constructor(files: ReplicaFiles, log: Logger, life: AbortSignal) {
    this.#files = files
    this.#log = log
    this.#life = life
  }

  of(replica: ReplicaName): string {
    return this.#files.home(replica)
  }

  /** The directory in which the program starts; a relative path begins in the replica's own directory. */
  workingDirectory({ replica, workingDirectory }: Where): string {
    return path.resolve(this.of(replica), workingDirectory ?? '.')
  }

  /**
   * Makes the directory, and in it a relative working directory, when they are missing. Returns null, or a sentence that
   * says why they can't be used.
   */
  make(assignment: Where): string | null {
    const own = this.of(assignment.replica)
    const fault = privateFault(this.#files.homes) ?? privateFault(own)
    if (fault !== null) return `The replica's own directory can't be used: ${fault}`
    const { workingDirectory } = assignment
    if (workingDirectory === null || path.isAbsolute(workingDirectory)) return null
    const directory = this.workingDirectory(assignment)
    // The servers refuse such a path already, but this worker does not rely on it.
    if (directory !== own && !directory.startsWith(`${own}${path.sep}`))
      return `The working directory ${workingDirectory} leaves the replica's own directory: correct the profile.`
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      return null
    } catch (error) {
      return `The working directory ${directory} can't be made: ${messageOf(error)}.`
    }
  }

  /**
   * Removes the directories of replicas that are not alive and whose logs are gone. A directory may hold very many files,
   * so it is only moved aside here: the same replica can come back at once, and the worker can renew its lease while the
   * files are removed.
   */
  discard(isAlive: (replica: ReplicaName) => boolean): void {
    const { homes, removed } = this.#files
    const gone = namesIn(homes).filter(
      (name) => isReplicaName(name) && !isAlive(name) && !existsSync(this.#files.directory(name)),
    )
    if (gone.length === 0) return
    mkdirSync(removed, { recursive: true, mode: 0o700 })
    for (const replica of gone) renameSync(this.of(replica), path.join(removed, randomUUID()))
    void this.sweep()
  }

  /** Removes what this and earlier workers moved aside. Resolves when that is done or the worker ends; never rejects. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#removeAll().finally(() => {
      this.#sweeping = null
    })
    return this.#sweeping
  }

  async #removeAll(): Promise<void> {
    const failed = new Set<string>()
    for (;;) {
      const name = namesIn(this.#files.removed).find((candidate) => !failed.has(candidate))
      if (name === undefined || this.#life.aborted) return
      try {
        await removeTree(path.join(this.#files.removed, name), this.#life)
      } catch (error) {
        if (this.#life.aborted) return
        failed.add(name)
        this.#log.warn({ err: error }, 'the directory of a replica that has ended could not be removed')
      }
    }
  }
}

/**
 * Makes a directory that only this user can read, and follows no link in its place. Returns null, or a sentence that says
 * why the directory can't be used.
 */
function privateFault(directory: string): string | null {
  try {
    mkdirSync(directory, { mode: 0o700 })
    return null
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) return `${directory} can't be made: ${messageOf(error)}.`
  }
  const found = lstatSync(directory, { throwIfNoEntry: false })
  if (found?.isDirectory() !== true) return `${directory} is not a directory. Remove what is in its place.`
  if (found.uid === process.geteuid?.()) return null
  return `${directory} belongs to another user, with the id ${found.uid}. Remove it.`
}

/**
 * Follows no link. Each directory is made writable first, because package managers make some that are not, and only root
 * could remove files from those.
 */
async function removeTree(file: string, life: AbortSignal): Promise<void> {
  life.throwIfAborted()
  if (!(await lstat(file)).isDirectory()) return unlink(file)
  await chmod(file, 0o700)
  for (const name of await readdir(file)) await removeTree(path.join(file, name), life)
  await rmdir(file)
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
