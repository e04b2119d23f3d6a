import type { Logger, LoggerOptions } from 'pino'

/** The database whose outages are logged. */
export interface WatchedDatabase {
  /** The name for people. */
  readonly name: string
  /** Whether an outage of the database causes the error. */
  readonly isOutage: (error: unknown) => boolean
  /** Rejects when the database does not answer. */
  readonly query: () => Promise<unknown>
}

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>

const checkEveryMillis = 1_000
/** The numbers that pino uses. */
const levels = { debug: 20, fatal: 60 } as const

/**
 * While the database is away, everything that needs it fails again and again. The log says once that the database is away
 * and once that it is back; failures in between that the outage causes are logged at the level debug.
 *
 * States: not followed (everything is logged) → here → away, from the first failure that an outage causes → here, when
 * the database answers
 */
export class OutageLog {
  #database: WatchedDatabase | null = null
  #log: Logger | null = null
  /** The beginning of the outage on the monotonic clock; null while the database is here. */
  #awaySince: number | null = null
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  /** The hook for the logger that `follow` gets. */
  readonly logMethod: LogMethod

  constructor() {
    const isHidden = (error: unknown) => this.#isHidden(error)
    this.logMethod = function (args, method, level) {
      const [first] = args as readonly unknown[]
      if (level > levels.debug && level < levels.fatal && isFailure(first) && isHidden(first.err)) this.debug(...args)
      else method.apply(this, args)
    }
  }

  follow(database: WatchedDatabase, log: Logger): void {
    this.#database = database
    this.#log = log
  }

  /** Stops checking whether the database is back. Failures because of its absence are still logged at debug only. */
  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  #isHidden(error: unknown): boolean {
    if (this.#database === null || !this.#database.isOutage(error)) return false
    if (this.#awaySince === null) {
      this.#awaySince = performance.now()
      this.#log?.warn(
        `The database does not answer: ${this.#database.name} (${reasonOf(error)}). It is asked again until it answers; what fails meanwhile because of it is logged at the level debug.`,
      )
      this.#scheduleCheck()
    }
    return true
  }

  #scheduleCheck(): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => void this.#checkDatabase(), checkEveryMillis)
    this.#timer.unref()
  }

  async #checkDatabase(): Promise<void> {
    try {
      await this.#database?.query()
    } catch {
      this.#scheduleCheck()
      return
    }
    const seconds = Math.round((performance.now() - (this.#awaySince ?? 0)) / 1_000)
    this.#awaySince = null
    this.#log?.info(`The database answers again, after ${seconds} s: ${this.#database?.name}.`)
  }
}

function isFailure(value: unknown): value is { readonly err: unknown } {
  return typeof value === 'object' && value !== null && 'err' in value
}

/** The root cause in one line. Prisma writes the query first, and the database's own words in quotes. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return reasonOf(error.cause)
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  const last = error.message.trim().split('\n').at(-1)?.trim()
  return /Message: `(.+)`/.exec(last ?? '')?.[1] ?? (last || error.name)
}
