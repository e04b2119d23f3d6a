import type { Logger } from 'pino'

const againAfterMillis = 600_000
/** So many different ones are told in that time: names come from whoever connects. */
const mostAtOnce = 1_000

/** Who is refused, as far as it is known. */
export interface RefusedWorker {
  readonly worker?: string
  readonly host?: string
  /** Of the token. */
  readonly subject?: string
  /** Where it connects from. */
  readonly address?: string | undefined
}

/**
 * Tells the server's log which workers are refused, so that an operator finds there why a host does not appear. A refused worker tries for ever: it
 * is told once in ten minutes.
 */
export class WorkerRefusals {
  readonly #log: Logger
  readonly #now: () => number
  /** When each was told, the earliest first. */
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
