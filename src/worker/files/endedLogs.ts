import { rmSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Logger } from 'pino'
import { hasCode } from '../../files/systemError.ts'
import type { ReplicaName } from '../assignment.ts'
import { type EndedLog, logsToRemove } from './logBounds.ts'
import type { LogMarks } from './logMarks.ts'
import { rotateLog } from './logRotation.ts'
import { type LogStream, logStreams, type ReplicaFiles } from './replicaFiles.ts'

export interface EndedLogsOptions {
  readonly files: ReplicaFiles
  readonly marks: LogMarks
  readonly log: Logger
  readonly isAlive: (replica: ReplicaName) => boolean
  /** Removes what belongs to the logs that are gone. */
  readonly onPruned: (isAlive: (replica: ReplicaName) => boolean) => void
}

/** The logs of replicas that have ended. They are kept for people who ask why, within the bounds of logBounds.ts. */
export class EndedLogs {
  readonly #options: EndedLogsOptions
  readonly #files: ReplicaFiles
  #pruning: Promise<void> | null = null
  #isAsked = false
  #isClosed = false

  constructor(options: EndedLogsOptions) {
    this.#options = options
    this.#files = options.files
  }

  /** Prunes in the background. One run serves all replicas that end while it waits for the disk. */
  pruneSoon(): void {
    this.#isAsked = true
    this.#pruning ??= this.#pruneAsked().finally(() => {
      this.#pruning = null
      if (this.#isAsked && !this.#isClosed) this.pruneSoon()
    })
  }

  /** Resolves when nothing is pruned any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#pruning
  }

  async #pruneAsked(): Promise<void> {
    this.#isAsked = false
    await this.prune().catch((error: unknown) =>
      this.#options.log.warn({ err: error }, 'files of replicas that have ended could not be removed'),
    )
  }

  /** Cuts the logs of ended replicas to their size and removes those that are too many. */
  async prune(): Promise<void> {
    const { isAlive, onPruned } = this.#options
    const ended: EndedLog[] = []
    for (const replica of await readdir(this.#files.replicas)) {
      const log = isAlive(replica) ? null : await this.#measure(replica)
      if (log !== null) ended.push(log)
    }
    // It may have come back meanwhile, so nothing is awaited between this question and the removal.
    for (const replica of logsToRemove(ended))
      if (!isAlive(replica)) rmSync(this.#files.directory(replica), { recursive: true, force: true })
    onPruned(isAlive)
  }

  async #cut(replica: ReplicaName, stream: LogStream): Promise<void> {
    try {
      await rotateLog(this.#files.log(replica, stream), this.#files.rotatedLog(replica, stream), (bytes) => {
        this.#options.marks.markRotated(replica, stream, bytes)
        this.#options.marks.forget(replica)
      })
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }

  /** Null when it was removed meanwhile. */
  async #measure(replica: ReplicaName): Promise<EndedLog | null> {
    try {
      const directory = this.#files.directory(replica)
      const { mtimeMs } = await stat(directory)
      // What a program writes in its last moment is looked at by nobody else.
      for (const stream of logStreams) await this.#cut(replica, stream)
      let bytes = 0
      for (const name of await readdir(directory)) bytes += (await stat(path.join(directory, name))).size
      const service = await readFile(this.#files.service(replica), 'utf8').catch(() => '')
      return { replica, service, bytes, at: mtimeMs }
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return null
      throw error
    }
  }
}
