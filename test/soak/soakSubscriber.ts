import { setTimeout as wait } from 'node:timers/promises'
import type { EndpointAddress } from '../../src/model/endpoint.ts'
import { type EndpointFrame, EndpointRecord, endpointDocument } from '../feed/endpointRecord.ts'
import type { Rng } from '../feed/rng.ts'
import { type Message, Subscriber } from '../feed/subscriber.ts'
import type { ApiClient } from '../support/drivers/apiClient.ts'
import { until } from '../support/fixtures/until.ts'
import type { Tally } from './tally.ts'

/** A server that says nothing for longer has frozen: there is a BOOKMARK every 15 s. */
const silenceSeconds = 20
const retryMillis = 200

/** Follows one endpoint through servers that die and freeze, leaves at random, and comes back to any of them with the revision that it has. */
export class SoakSubscriber {
  readonly record: EndpointRecord
  readonly #clients: readonly ApiClient[]
  readonly #rng: Rng
  readonly #tally: Tally
  #subscriber: Subscriber | null = null
  #stopped = false

  constructor(service: string, includeNotReady: boolean, clients: readonly ApiClient[], rng: Rng, tally: Tally) {
    this.record = new EndpointRecord(service, { port: null, includeNotReady })
    this.#clients = clients
    this.#rng = rng
    this.#tally = tally
  }

  async run(): Promise<void> {
    while (!this.#stopped) {
      await this.#follow().catch(() => undefined)
      await this.#subscriber?.close()
      this.#subscriber = null
      if (this.#stopped) return
      this.#tally.reconnects++
      await wait(retryMillis)
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#subscriber?.close()
  }

  /** Compares what was seen up to `revision` with what was so. */
  check(tableAt: (service: string, revision: bigint) => readonly EndpointAddress[], revision: bigint): void {
    const { record } = this
    const known = record.frames.findIndex((frame) => frame.revision > revision)
    const faults: string[] = []
    record.check((at) => tableAt(record.service, at), faults, known === -1 ? record.frames.length : known)
    for (const fault of faults) this.#tally.fault(`A subscriber of ${fault}.`)
  }

  async #follow(): Promise<void> {
    const client = this.#rng.of(this.#clients)
    const subscriber = await Subscriber.open(client)
    this.#subscriber = subscriber
    const { service, view, revision } = this.record
    const after = revision === null ? null : String(revision)
    subscriber.subscribe(endpointDocument, { service, includeNotReady: view.includeNotReady, after })
    for (let left = 1 + this.#rng.below(60); left > 0 && !this.#stopped; left--) {
      await until(() => this.#stopped || subscriber.closed || subscriber.waiting > 0, 'something comes', silenceSeconds)
      if (this.#stopped || subscriber.waiting === 0) return
      if (!this.#take(await subscriber.next(), client)) return
    }
  }

  /** False: nothing more comes. */
  #take({ type, payload }: Message, { url }: ApiClient): boolean {
    const frame = payload?.data?.['endpointChanged'] as EndpointFrame | undefined
    if (type === 'next' && frame != null) {
      this.record.take(frame, true)
      this.#tally.frames++
      return true
    }
    const errors = Array.isArray(payload)
      ? (payload as NonNullable<NonNullable<Message['payload']>['errors']>)
      : (payload?.errors ?? [])
    for (const { message, extensions } of errors) {
      const code = extensions?.code ?? 'no code'
      // Between a service and the next one of its name there is none.
      if (code !== 'NOT_FOUND' && !code.startsWith('DATABASE_'))
        this.#tally.fault(`${url} ended a subscription with ${code}: ${message}`)
    }
    return false
  }
}
