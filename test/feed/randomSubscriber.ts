import type { EndpointView } from '../../src/model/endpoint.ts'
import type { ApiClient } from '../support/drivers/apiClient.ts'
import { until } from '../support/fixtures/until.ts'
import { type EndpointFrame, EndpointRecord, endpointDocument } from './endpointRecord.ts'
import type { Rng } from './rng.ts'
import { Subscriber } from './subscriber.ts'

/** Follows an endpoint, leaves at random points without a word, and comes back to any server with the last revision that it has. */
export class RandomSubscriber {
  readonly record: EndpointRecord
  readonly #clients: readonly ApiClient[]
  readonly #rng: Rng
  readonly #mostDisconnects: number
  disconnects = 0
  #stopped = false
  #subscriber: Subscriber | null = null

  constructor(clients: readonly ApiClient[], service: string, view: EndpointView, rng: Rng, mostDisconnects: number) {
    this.#clients = clients
    this.record = new EndpointRecord(service, view)
    this.#rng = rng
    this.#mostDisconnects = mostDisconnects
  }

  get revision(): bigint {
    return this.record.revision ?? -1n
  }

  get hasDisconnected(): boolean {
    return this.disconnects >= this.#mostDisconnects
  }

  async run(): Promise<void> {
    while (!this.#stopped) {
      const subscriber = await Subscriber.open(this.#rng.of(this.#clients))
      this.#subscriber = subscriber
      const { service, view, revision } = this.record
      const after = revision === null ? null : String(revision)
      subscriber.subscribe(endpointDocument, { service, includeNotReady: view.includeNotReady, after })
      const leaveAfter = this.hasDisconnected ? Number.POSITIVE_INFINITY : this.#rng.below(6)
      let heard = 0
      while (heard < leaveAfter && !this.#stopped) {
        const message = await until(
          () => this.#stopped || subscriber.closed || subscriber.waiting > 0,
          'something comes',
          60,
        )
        if (message !== true || subscriber.waiting === 0) break
        this.record.take((await subscriber.frame()) as EndpointFrame)
        heard++
      }
      await subscriber.close()
      if (!this.#stopped) this.disconnects++
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#subscriber?.close()
  }
}
