import { rmSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { hasCode } from '../../files/systemError.ts'
import type { ReplicaName } from '../assignment.ts'
import { type EndedLog, logBytes, logsToRemove } from './logBounds.ts'
import { rotateLog } from './logRotation.ts'
import { logStreams, type ReplicaFiles } from './replicaFiles.ts'

/** The logs of replicas that have ended. They are kept for people who ask why, within the bounds of logBounds.ts. */
export class EndedLogs {
  readonly #files: ReplicaFiles

  constructor(files: ReplicaFiles) {
    this.#files = files
  }

  /** Cuts the logs of ended replicas to their size and removes those that are too many. */
  async prune(isAlive: (replica: ReplicaName) => boolean): Promise<void> {
    const ended: EndedLog[] = []
    for (const replica of await readdir(this.#files.replicas)) {
      const log = isAlive(replica) ? null : await this.#measure(replica)
      if (log !== null) ended.push(log)
    }
    // It may have come back meanwhile, so nothing is awaited between this question and the removal.
    for (const replica of logsToRemove(ended))
      if (!isAlive(replica)) rmSync(this.#files.directory(replica), { recursive: true, force: true })
  }

  /** Null when it was removed meanwhile. */
  async #measure(replica: ReplicaName): Promise<EndedLog | null> {
    try {
      const directory = this.#files.directory(replica)
      const { mtimeMs } = await stat(directory)
      // What a program writes in its last moment is looked at by nobody else.
      for (const stream of logStreams)
        await rotateLog(this.#files.log(replica, stream), this.#files.rotatedLog(replica, stream), logBytes).catch(
          (error: unknown) => {
            if (!hasCode(error, 'ENOENT')) throw error
          },
        )
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
