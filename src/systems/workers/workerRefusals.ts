import type { Logger } from 'pino'
import { Seldom } from '../warnings/seldom.ts'

/** The refused worker, as far as it is known. */
export interface RefusedWorker {
  readonly worker?: string
  readonly host?: string
  /** The token's subject. */
  readonly subject?: string
  /** The address from which it connects. */
  readonly address?: string | undefined
}

/** An instant in a sentence. It may be another one at every try, and is not what makes a refusal another one. */
const instant = /\d{4}-\d\d-\d\dT[\d:.]+Z/g

/**
 * Logs which workers are refused, so that an operator finds out why a host does not appear. A refused worker tries for
 * ever, so each one is logged once in ten minutes.
 */
export class WorkerRefusals {
  readonly #log: Logger
  readonly #seldom: Seldom

  constructor(log: Logger, now?: () => number) {
    this.#log = log
    this.#seldom = new Seldom(now)
  }

  tell(who: RefusedWorker, why: string): void {
    const key = JSON.stringify([who.worker, who.host, who.subject, who.address, why.replaceAll(instant, '')])
    if (this.#seldom.isDue(key)) this.#log.warn(who, `A worker is refused. ${why}`)
  }
}
