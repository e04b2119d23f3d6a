import { setTimeout as wait } from 'node:timers/promises'

/** Requests one address after the other, some 40 a second, so that the machine is left to those it tests. */
export class Requests {
  answered = 0
  /** What failed, each as a sentence. */
  readonly failures: string[] = []
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>

  /** `addresses`: as they are known at the moment. */
  constructor(addresses: () => readonly { readonly hostPort: string }[]) {
    this.#running = this.#run(addresses)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(addresses: () => readonly { readonly hostPort: string }[]): Promise<void> {
    for (let turn = 0; !this.#stopping.signal.aborted; turn++) {
      const known = addresses()
      const address = known[turn % Math.max(1, known.length)]
      if (address === undefined) this.failures.push('no address is ready')
      else await this.#request(address.hostPort)
      await wait(20)
    }
  }

  async #request(hostPort: string): Promise<void> {
    try {
      const response = await fetch(`http://${hostPort}/`, { signal: AbortSignal.timeout(10_000) })
      await response.text()
      if (!response.ok) throw new Error(`status ${response.status}`)
      this.answered++
    } catch (error) {
      this.failures.push(`${hostPort}: ${String(error)} ${error instanceof Error ? String(error.cause) : ''}`)
    }
  }
}
