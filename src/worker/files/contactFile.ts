import { readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { Logger } from 'pino'
import { writeWhole } from '../../files/writeWhole.ts'
import { bootId } from '../machine/bootClock.ts'

/** What a worker that starts must know of how long the one before was heard (R15). */
export interface Contact {
  /** On the machine's clock (bootSeconds): when what a server answered last was sent. Null: the machine has started since, so nobody knows. */
  readonly lastSeconds: number | null
  /** Lease and grace, as the servers said. */
  readonly patienceSeconds: number
}

/** The file `contact.json` of a state directory. A disk that takes nothing hurts nobody. */
export class ContactFile {
  readonly #file: string
  readonly #log: Logger
  readonly #bootId = bootId()
  /** Said once, until it can be written again. */
  #refused = false

  /** `stateDirectory`: an existing one, locked by the caller. */
  constructor(stateDirectory: string, log: Logger) {
    this.#file = path.join(stateDirectory, 'contact.json')
    this.#log = log
  }

  /** Null: nobody has ever written it, or it can't be read. */
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
      this.#refused = false
    } catch (error) {
      this.#remove()
      if (this.#refused) return
      this.#refused = true
      this.#log.warn(
        { err: error },
        'the last contact could not be written: a worker that starts now counts its silence from its own start',
      )
    }
  }

  /** What it says has become wrong: the worker that starts next would take its replicas for lost ones, although it was heard meanwhile. */
  #remove(): void {
    try {
      rmSync(this.#file, { force: true })
    } catch {
      // A disk that gives nothing back either: no worker can start on it.
    }
  }
}
