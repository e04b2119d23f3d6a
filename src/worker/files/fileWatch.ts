import { existsSync, type FSWatcher, statSync, watch } from 'node:fs'
import path from 'node:path'
import type { Logger } from 'pino'
import type { ReplicaName } from '../assignment.ts'
import { logStreams, type ReplicaFiles } from './replicaFiles.ts'

export interface FileWatchOptions {
  readonly files: ReplicaFiles
  /**
   * Looks after the files of one replica. Resolves with false when something is out of order, so that it is called again
   * although no file changes. It must not reject.
   */
  readonly look: (replica: ReplicaName) => Promise<boolean>
  /** A file of a quiet replica has changed. */
  readonly onChange?: (replica: ReplicaName) => void
  readonly log: Logger
  /** Default `lookMillis`. */
  readonly pauseMillis?: number
}

/** How long a change may wait until the files of its replica are looked after. */
export const lookMillis = 2_000

/**
 * Decides when the files of a replica are looked after: within `lookMillis` after one of them has changed, and at most
 * that often. A replica whose files do not change costs nothing, because the kernel watches its directory (inotify).
 *
 *     busy: looked after every `lookMillis` ──── no log has grown since the last look ───▶ quiet: watched
 *       ▲                                                                                    │
 *       └──────────────────────────────── the first change ends the watch ───────────────────┘
 *
 * A watch reports each write of the program, so it ends with the first one: a program that writes all the time costs two
 * stats per look and not a wake-up per write. Where the kernel has no watch left, a replica stays busy.
 */
export class FileWatch {
  readonly #options: FileWatchOptions
  /** The watch of each quiet replica; null for a busy one. */
  readonly #replicas = new Map<ReplicaName, FSWatcher | null>()
  /** The size of both logs at the last look. */
  readonly #sizes = new Map<ReplicaName, string>()
  /** The watches of the directories in which those of the replicas are, by path. */
  readonly #parents = new Map<string, FSWatcher>()
  #timer: NodeJS.Timeout | null = null
  #looking: Promise<void> | null = null
  #isClosed = false
  /** Keeps the log from repeating that the kernel has no watch left. */
  #isShortageLogged = false

  constructor(options: FileWatchOptions) {
    this.#options = options
  }

  add(replica: ReplicaName): void {
    this.remove(replica)
    this.#replicas.set(replica, null)
    this.#schedule()
  }

  remove(replica: ReplicaName): void {
    this.#replicas.get(replica)?.close()
    this.#replicas.delete(replica)
    this.#sizes.delete(replica)
  }

  /** Resolves when no look is running any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    for (const watcher of [...this.#replicas.values(), ...this.#parents.values()]) watcher?.close()
    this.#replicas.clear()
    this.#parents.clear()
    await this.#looking
  }

  /** On a slow disk the next round begins `lookMillis` after the last one has ended. */
  #schedule(): void {
    if (this.#timer !== null || this.#looking !== null || this.#isClosed) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#looking = this.#lookAtBusy().finally(() => {
        this.#looking = null
        if ([...this.#replicas.values()].includes(null)) this.#schedule()
      })
    }, this.#options.pauseMillis ?? lookMillis)
  }

  async #lookAtBusy(): Promise<void> {
    for (const [replica, watcher] of [...this.#replicas]) {
      if (watcher !== null) continue
      const isInOrder = await this.#options.look(replica)
      if (this.#isClosed) return
      if (!this.#replicas.has(replica)) continue
      const before = this.#sizes.get(replica)
      this.#sizes.set(replica, this.#sizesOf(replica))
      if (isInOrder && before === this.#sizes.get(replica)) this.#watchReplica(replica)
    }
    this.#watchParents()
  }

  #watchReplica(replica: ReplicaName): void {
    const watcher = this.#watch(this.#options.files.directory(replica), () => this.#wake(replica))
    this.#replicas.set(replica, watcher)
    // What was written between the look and the beginning of the watch is not reported.
    if (this.#sizesOf(replica) !== this.#sizes.get(replica)) this.#wake(replica)
  }

  #wake(replica: ReplicaName): void {
    if (!this.#replicas.has(replica)) return
    this.#replicas.get(replica)?.close()
    this.#replicas.set(replica, null)
    this.#options.onChange?.(replica)
    this.#schedule()
  }

  /** Somebody may remove directories of all replicas at once, or the replicas' own directories. */
  #watchParents(): void {
    const { root, homes } = this.#options.files
    const watched = [
      [root, (name: string) => this.#onRootChange(name)],
      [homes, (name: string) => this.#wake(name)],
    ] as const
    for (const [directory, onChange] of watched) {
      if (this.#parents.has(directory) || !existsSync(directory)) continue
      const watcher = this.#watch(directory, (name) => {
        // The kernel drops the watch of a directory that is removed. The next look makes it again.
        if (!existsSync(directory)) this.#dropParent(directory)
        onChange(name)
      })
      if (watcher !== null) this.#parents.set(directory, watcher)
    }
  }

  #onRootChange(name: string): void {
    const { root, exits, homes, replicas } = this.#options.files
    if (![root, exits, homes, replicas].some((directory) => path.basename(directory) === name)) return
    this.#dropParent(homes)
    for (const replica of this.#replicas.keys()) this.#wake(replica)
  }

  #dropParent(directory: string): void {
    this.#parents.get(directory)?.close()
    this.#parents.delete(directory)
  }

  /** Calls `onChange` with the name of each entry that changes. Null when the directory is gone or can't be watched. */
  #watch(directory: string, onChange: (name: string) => void): FSWatcher | null {
    try {
      const watcher = watch(directory, { persistent: false }, (_event, name) => onChange(name ?? ''))
      watcher.on('error', () => onChange(''))
      return watcher
    } catch (error) {
      const isShortage = existsSync(directory) && !this.#isShortageLogged
      if (isShortage) {
        this.#isShortageLogged = true
        this.#options.log.warn(
          { err: error, directory },
          'a directory can’t be watched, so the files of its replica are looked after every 2 s; raise fs.inotify.max_user_watches and max_user_instances to save that work',
        )
      }
      return null
    }
  }

  #sizesOf(replica: ReplicaName): string {
    const { files } = this.#options
    return logStreams.map((stream) => sizeOf(files.log(replica, stream))).join()
  }
}

/** Null where there is none, also because a file has taken the place of its directory. */
function sizeOf(file: string): number | null {
  try {
    return statSync(file).size
  } catch {
    return null
  }
}
