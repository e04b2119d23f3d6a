import type { Logger } from 'pino'

const againAfterMillis = 600_000
/** At most this many different workers are logged in that time, because anybody who connects can choose names. */
const mostAtOnce = 1_000

/** The refused worker, as far as it is known. */
export interface RefusedWorker {
  readonly worker?: string
  readonly host?: string
  /** The token's subject. */
  readonly subject?: string
  /** The address from which it connects. */
  readonly address?: string | undefined
}

/**
 * Logs which workers are refused, so that an operator finds out why a host does not appear. A refused worker tries for
 * ever, so each one is logged once in ten minutes.
 */
export class WorkerRefusals {
  readonly #log: Logger
  readonly #now: () => number
  /** When each was logged, the earliest first. */
  readonly #toldAt = new Map<string, number>()

  constructor(log: Logger, now: () => number = () => performance.now()) {
    this.#log = log
    this.#now = now
  }

  tell(who: RefusedWorker, why: string): void {
    const now = this.#now()
    for (const [key, at] of this.#toldAt) {
      if (at + againAfterMillis > now) break
      this.#toldAt.delete(key)
    }
    const key = JSON.stringify([who.worker, who.host, who.subject, who.address, why])
    if (this.#toldAt.has(key) || this.#toldAt.size >= mostAtOnce) return
    this.#toldAt.set(key, now)
    this.#log.warn(who, `A worker is refused. ${why}`)
  }
}
