import type { Logger } from 'pino'
import type { Database } from '../store/database.ts'
import { expireRecords } from '../store/expire.ts'

const everyMillis = 3_600_000

/** Deletes what has expired, once an hour. Nothing waits for it. */
export class Upkeep {
  readonly #database: Database
  readonly #log: Logger
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(options: { readonly database: Database; readonly log: Logger }) {
    this.#database = options.database
    this.#log = options.log
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#running = this.#run()
    }, everyMillis)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running
  }

  async #run(): Promise<void> {
    try {
      const deleted = await expireRecords(this.#database)
      this.#log.debug({ deleted }, 'Expired records are deleted')
    } catch (error) {
      this.#log.warn({ err: error }, 'Expired records could not be deleted: trying again in an hour.')
    }
  }
}
