import { readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { Logger } from 'pino'
import { writeWhole } from '../../files/writeWhole.ts'
import { bootId } from '../machine/bootClock.ts'

/** The contact that earlier workers had with servers, as far as the next worker needs to know it (R15). */
export interface Contact {
  /**
   * When the last request that a server answered was sent, on the machine's clock (bootSeconds). Null when the machine has
   * started since, because that clock started again.
   */
  readonly lastSeconds: number | null
  /** The sum of lease and grace, as the servers set them. */
  readonly patienceSeconds: number
}

/** The file `contact.json` of a state directory. A worker goes on where the disk refuses to write it. */
export class ContactFile {
  readonly #file: string
  readonly #log: Logger
  readonly #bootId = bootId()
  /** Keeps the log from repeating the warning until a write succeeds again. */
  #isWarned = false

  /** `stateDirectory` exists and is locked by the caller. */
  constructor(stateDirectory: string, log: Logger) {
    this.#file = path.join(stateDirectory, 'contact.json')
    this.#log = log
  }

  /** Null when no worker has written the file, or when it can't be read. */
  read(): Contact | null {
    try {
      const {
        bootId: boot,
        lastSeconds,
        patienceSeconds,
      } = JSON.parse(readFileSync(this.#file, 'utf8')) as Record<string, unknown>
      if (typeof patienceSeconds !== 'number' || typeof lastSeconds !== 'number') return null
      return { lastSeconds: boot === this.#bootId ? lastSeconds : null, patienceSeconds }
    } catch {
      return null
    }
  }

  write(lastSeconds: number, patienceSeconds: number): void {
    try {
      writeWhole(this.#file, JSON.stringify({ bootId: this.#bootId, lastSeconds, patienceSeconds }))
      this.#isWarned = false
    } catch (error) {
      this.#removeFile()
      if (this.#isWarned) return
      this.#isWarned = true
      this.#log.warn(
        { err: error },
        'the last contact could not be written: a worker that starts now counts its silence from its own start',
      )
    }
  }

  /** Removes what is out of date: the next worker would take its replicas for lost although there was contact meanwhile. */
  #removeFile(): void {
    try {
      rmSync(this.#file, { force: true })
    } catch {
      // A disk that can't even remove a file is one on which no worker can start.
    }
  }
}
