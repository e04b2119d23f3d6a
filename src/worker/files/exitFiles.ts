import { existsSync, type FSWatcher, readFileSync, watch, writeFileSync } from 'node:fs'
import type { ReplicaName } from '../assignment.ts'
import { isAlive } from '../machine/processTable.ts'
import type { Exit } from './exit.ts'
import { exitFromStatus, unknownExit } from './exit.ts'
import type { ReplicaFiles } from './replicaFiles.ts'

interface Watched {
  readonly replica: ReplicaName
  readonly start: number
  readonly pid: number
  readonly startTicks: number
  readonly resolve: (exit: Exit) => void
}

const checkMillis = 1_000

/**
 * Tells the end of processes that are no children of this worker: the line that started them writes a file, which is noticed at once. When
 * even that line was killed there is no file; a look at the process table every second tells that.
 */
export class ExitFiles {
  readonly #files: ReplicaFiles
  readonly #watched = new Map<string, Watched>()
  #watcher: FSWatcher | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(files: ReplicaFiles) {
    this.#files = files
  }

  /** Null: not written, or not whole yet. */
  read(replica: ReplicaName, start: number): Exit | null {
    try {
      return exitFromStatus(readFileSync(this.#files.exit(replica, start), 'utf8'))
    } catch {
      return null
    }
  }

  /** True when that start never happened and now never will: this worker has created its claim itself. */
  voidStart(replica: ReplicaName, start: number): boolean {
    const claim = this.#files.claim(replica, start)
    if (existsSync(claim)) return false
    try {
      writeFileSync(claim, '', { flag: 'wx' })
      return true
    } catch {
      return false
    }
  }

  /** Resolves with the end of a process that was found; never, once this is closed. */
  ended(replica: ReplicaName, start: number, pid: number, startTicks: number): Promise<Exit> {
    return new Promise((resolve) => {
      const name = this.#files.exitName(replica, start)
      this.#watched.set(name, { replica, start, pid, startTicks, resolve })
      this.#watcher ??= this.#watch()
      this.#timer ??= setInterval(() => this.#checkAll(), checkMillis)
      this.#check(name) // it may have ended before the watch began
    })
  }

  close(): void {
    this.#watcher?.close()
    this.#watcher = null
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    this.#watched.clear()
  }

  #watch(): FSWatcher | null {
    try {
      const watcher = watch(this.#files.exits, (_event, name) => (name === null ? this.#checkAll() : this.#check(name)))
      watcher.on('error', () => watcher.close()) // out of inotify watches: the slower check goes on
      return watcher
    } catch {
      return null
    }
  }

  #checkAll(): void {
    for (const name of [...this.#watched.keys()]) this.#check(name)
  }

  #check(name: string): void {
    const watched = this.#watched.get(name)
    if (watched === undefined) return
    const alive = isAlive(watched.pid, watched.startTicks)
    // Read after the process was looked at: what it wrote last cannot be missed.
    const exit = this.read(watched.replica, watched.start) ?? (alive ? null : unknownExit)
    if (exit === null) return
    this.#watched.delete(name)
    watched.resolve(exit)
    if (this.#watched.size === 0) this.close()
  }
}
