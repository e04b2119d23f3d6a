import { Agent, get } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

/** The number of requests that are under way at the same time. */
const clients = 8
const requestLimitMillis = 5_000
/**
 * An idle connection is closed after 3 s. The replica would close it later, perhaps in the moment of the next request, which
 * would then fail.
 */
const idleLimitMillis = 3_000

/** Requests the addresses of the newest table in turn, as fast as the answers come, and counts the failures. */
export class Load {
  requests = 0
  /** One sentence for each request that failed. */
  readonly failures: string[] = []
  /** The number of answers for each label that `label` gives to a body. */
  readonly answers = new Map<string, number>()
  readonly #table: () => readonly { readonly hostPort: string }[]
  readonly #label: (body: string) => string
  readonly #agent = new Agent({ keepAlive: true, timeout: idleLimitMillis })
  readonly #clients: Promise<void>[] = []
  #stopped = false

  constructor(table: () => readonly { readonly hostPort: string }[], label: (body: string) => string) {
    this.#table = table
    this.#label = label
  }

  start(): void {
    for (let client = 0; client < clients; client++) this.#clients.push(this.#sendRequests(client))
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#clients)
    this.#agent.destroy()
  }

  async #sendRequests(first: number): Promise<void> {
    for (let turn = first; !this.#stopped; turn++) {
      const table = this.#table()
      const address = table[turn % Math.max(1, table.length)]
      this.requests++
      try {
        if (address === undefined) throw new Error('no address is ready')
        const label = this.#label(await this.#fetchBody(address.hostPort))
        this.answers.set(label, (this.answers.get(label) ?? 0) + 1)
      } catch (error) {
        this.failures.push(
          `${new Date().toISOString()} ${address?.hostPort}: ${error instanceof Error ? error.message : String(error)}`,
        )
        await pause(10)
      }
    }
  }

  #fetchBody(hostPort: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const request = get(`http://${hostPort}/`, { agent: this.#agent, timeout: requestLimitMillis }, (response) => {
        let body = ''
        response.setEncoding('utf8')
        response.on('data', (part: string) => {
          body += part
        })
        response.on('error', reject)
        response.on('end', () =>
          response.statusCode === 200 ? resolve(body) : reject(new Error(`status ${response.statusCode}`)),
        )
      })
      request.on('timeout', () => request.destroy(new Error(`no answer within ${requestLimitMillis} ms`)))
      request.on('error', reject)
    })
  }
}
