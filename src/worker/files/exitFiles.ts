import { existsSync, type FSWatcher, readFileSync, watch, writeFileSync } from 'node:fs'
import type { ReplicaName } from '../assignment.ts'
import { isAlive, readPids } from '../machine/processTable.ts'
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

/** How often the process table is listed while there are adopted processes. */
const checkMillis = 1_000

/**
 * How often a process is checked that the table still lists: it may be dead and not yet collected, or another process with
 * the same id.
 */
const fullCheckSeconds = 30

/**
 * Notices the end of processes that are not children of this worker. The shell line that started a process writes a file
 * when the process ends, which a watch notices at once. When even that line was killed there is no file, so the process
 * table is listed every second, too: one call for all processes, because a call for each would cost a worker with 200
 * replicas 1 % of a core.
 */
export class ExitFiles {
  readonly #files: ReplicaFiles
  readonly #watched = new Map<string, Watched>()
  #watcher: FSWatcher | null = null
  #timer: NodeJS.Timeout | null = null
  #checks = 0

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
      this.#timer ??= setInterval(() => this.#checkTable(), checkMillis)
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

  #checkTable(): void {
    this.#checks += 1
    const living = readPids()
    let at = 0
    for (const [name, { pid }] of [...this.#watched]) {
      if (!living.has(pid) || at % fullCheckSeconds === this.#checks % fullCheckSeconds) this.#checkProcess(name)
      at += 1
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
