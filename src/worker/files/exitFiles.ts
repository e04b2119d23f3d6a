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
 * Notices the end of processes that are not children of this worker. The shell line that started a process writes a file
 * when the process ends, which a watch notices at once. When even that line was killed there is no file, so the process
 * table is checked every second, too.
 */
export class ExitFiles {
  readonly #files: ReplicaFiles
  readonly #watched = new Map<string, Watched>()
  #watcher: FSWatcher | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(files: ReplicaFiles) {
    this.#files = files
  }

  /** Null when the file is missing or not complete yet. */
  read(replica: ReplicaName, start: number): Exit | null {
    try {
      return exitFromStatus(readFileSync(this.#files.exit(replica, start), 'utf8'))
    } catch {
      return null
    }
  }

  /** Makes sure that a start never happens, by creating its claim first. False when the start has its claim already. */
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

  /** Resolves with the end of an adopted process; never settles after `close`. */
  ended(replica: ReplicaName, start: number, pid: number, startTicks: number): Promise<Exit> {
    return new Promise((resolve) => {
      const name = this.#files.exitName(replica, start)
      this.#watched.set(name, { replica, start, pid, startTicks, resolve })
      this.#watcher ??= this.#watchDirectory()
      this.#timer ??= setInterval(() => this.#checkAll(), checkMillis)
      this.#checkProcess(name) // the process may have ended before the watch began
    })
  }

  close(): void {
    this.#watcher?.close()
    this.#watcher = null
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    this.#watched.clear()
  }

  #watchDirectory(): FSWatcher | null {
    try {
      const watcher = watch(this.#files.exits, (_event, name) =>
        name === null ? this.#checkAll() : this.#checkProcess(name),
      )
      watcher.on('error', () => watcher.close()) // without inotify watches the check every second is left
      return watcher
    } catch {
      return null
    }
  }

  #checkAll(): void {
    for (const name of [...this.#watched.keys()]) this.#checkProcess(name)
  }

  #checkProcess(name: string): void {
    const watched = this.#watched.get(name)
    if (watched === undefined) return
    const alive = isAlive(watched.pid, watched.startTicks)
    // The file is read after the process table, so that what the process wrote at its end can't be missed.
    const exit = this.read(watched.replica, watched.start) ?? (alive ? null : unknownExit)
    if (exit === null) return
    this.#watched.delete(name)
    watched.resolve(exit)
    if (this.#watched.size === 0) this.close()
  }
}
