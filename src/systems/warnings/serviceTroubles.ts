import type { Logger } from 'pino'
import type { ServiceChange } from '../../rules/draft/change.ts'
import { troublesOf } from '../../rules/service/troubles.ts'
import { Seldom } from './seldom.ts'

/**
 * Logs what begins to be wrong with a service, once, at the server that committed it: an operator who is woken at night
 * reads the log before the API. Something that comes and goes is logged once in ten minutes.
 */
export class ServiceTroubles {
  readonly #log: Logger
  readonly #seldom: Seldom

  constructor(log: Logger, now?: () => number) {
    this.#log = log
    this.#seldom = new Seldom(now)
  }

  take(change: ServiceChange): void {
    const { projectName, name } = change.next
    for (const { reason, message } of troublesOf(change))
      if (this.#seldom.isDue(`${change.id} ${reason}`))
        this.#log.warn({ service: `${projectName}/${name}`, reason }, message)
  }
}
