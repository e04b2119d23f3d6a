import type { Logger, LoggerOptions } from 'pino'

/** The database, as far as it may be away. */
export interface MissingDatabase {
  /** For people. */
  readonly name: string
  /** Whether an error comes from its being away. */
  readonly explains: (error: unknown) => boolean
  /** Rejects when it does not answer. */
  readonly ask: () => Promise<unknown>
}

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>

const askEveryMillis = 1_000
/** Pino's. */
const levels = { debug: 20, fatal: 60 } as const

/**
 * While the database is away, everything that needs it fails, again and again. The log says once that it is away and once that it is back; what
 * fails meanwhile because of that is told at debug only.
 *
 * States: not followed (everything is told) → here → away, from the first failure that this explains → here, when it answers
 */
export class OutageLog {
  #database: MissingDatabase | null = null
  #log: Logger | null = null
  /** On the monotonic clock; null: it is here. */
  #since: number | null = null
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  /** Of the logger that `follow` gets. */
  readonly logMethod: LogMethod

  constructor() {
    const hides = (error: unknown) => this.#hides(error)
    this.logMethod = function (args, method, level) {
      const [first] = args as readonly unknown[]
      if (level > levels.debug && level < levels.fatal && isFailure(first) && hides(first.err)) this.debug(...args)
      else method.apply(this, args)
    }
  }

  follow(database: MissingDatabase, log: Logger): void {
    this.#database = database
    this.#log = log
  }

  /** What fails from now on for its being away is still told at debug only; nobody asks whether it is back. */
  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  #hides(error: unknown): boolean {
    if (this.#database === null || !this.#database.explains(error)) return false
    if (this.#since === null) {
      this.#since = performance.now()
      this.#log?.warn(
        `The database does not answer: ${this.#database.name} (${reasonOf(error)}). It is asked until it does; what fails meanwhile for want of it is told at the level debug.`,
      )
      this.#askLater()
    }
    return true
  }

  #askLater(): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => void this.#ask(), askEveryMillis)
    this.#timer.unref()
  }

  async #ask(): Promise<void> {
    try {
      await this.#database?.ask()
    } catch {
      this.#askLater()
      return
    }
    const seconds = Math.round((performance.now() - (this.#since ?? 0)) / 1_000)
    this.#since = null
    this.#log?.info(`The database answers again, after ${seconds} s: ${this.#database?.name}.`)
  }
}

function isFailure(value: unknown): value is { readonly err: unknown } {
  return typeof value === 'object' && value !== null && 'err' in value
}

/** What is at its bottom, in one line: Prisma tells the query first, and the database's own words in quotes. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return reasonOf(error.cause)
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  const last = error.message.trim().split('\n').at(-1)?.trim()
  return /Message: `(.+)`/.exec(last ?? '')?.[1] ?? (last || error.name)
}
