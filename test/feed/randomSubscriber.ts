import type { EndpointView } from '../../src/controller/feed/endpointNet.ts'
import type { EndpointAddress } from '../../src/model/endpoint.ts'
import type { ApiClient } from '../support/apiClient.ts'
import { until } from '../support/until.ts'
import { shownOf } from './exactness.ts'
import type { Rng } from './rng.ts'
import { type Frame, Subscriber } from './subscriber.ts'

const document = `subscription ($service: String!, $includeNotReady: Boolean, $after: Revision) {
  endpointChanged(service: $service, includeNotReady: $includeNotReady, after: $after) {
    kind revision endpoint { revision addresses(includeNotReady: true) { id ready } } added { id ready } removed { id }
  }
}`

interface Address {
  readonly id: string
  readonly ready: boolean
}

interface EndpointFrame extends Frame {
  readonly endpoint: { readonly revision: string; readonly addresses: readonly Address[] } | null
  readonly added: readonly Address[]
  readonly removed: readonly Address[]
}

interface Seen {
  readonly kind: Frame['kind']
  readonly revision: bigint
  /** The frame's own whole table; null where it has none. */
  readonly whole: string | null
  /** What the subscriber has after it. */
  readonly table: string
}

/** Follows an endpoint, leaves at random points without a word, and comes back to any server with the last revision that it has. */
export class RandomSubscriber {
  readonly service: string
  readonly view: EndpointView
  readonly frames: Seen[] = []
  readonly faults: string[] = []
  readonly #clients: readonly ApiClient[]
  readonly #rng: Rng
  readonly #mostDisconnects: number
  readonly #table = new Map<string, boolean>()
  #revision: bigint | null = null
  disconnects = 0
  #stopped = false
  #subscriber: Subscriber | null = null

  constructor(clients: readonly ApiClient[], service: string, view: EndpointView, rng: Rng, mostDisconnects: number) {
    this.#clients = clients
    this.service = service
    this.view = view
    this.#rng = rng
    this.#mostDisconnects = mostDisconnects
  }

  get revision(): bigint {
    return this.#revision ?? -1n
  }

  get hasDisconnected(): boolean {
    return this.disconnects >= this.#mostDisconnects
  }

  get tableText(): string {
    return JSON.stringify([...this.#table].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  async run(): Promise<void> {
    while (!this.#stopped) {
      const subscriber = await Subscriber.open(this.#rng.of(this.#clients))
      this.#subscriber = subscriber
      const { service, view } = this
      const after = this.#revision === null ? null : String(this.#revision)
      subscriber.subscribe(document, { service, includeNotReady: view.includeNotReady, after })
      const leaveAfter = this.hasDisconnected ? Number.POSITIVE_INFINITY : this.#rng.below(6)
      let heard = 0
      let isFirst = after === null
      while (heard < leaveAfter && !this.#stopped) {
        const message = await until(() => this.#stopped || subscriber.closed || subscriber.waiting > 0, 'something comes', 60)
        if (message !== true || subscriber.waiting === 0) break
        this.#take((await subscriber.frame()) as EndpointFrame, isFirst)
        isFirst = false
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

  /** Compares what was seen with what was so, revision by revision. */
  check(tableAt: (revision: bigint) => readonly EndpointAddress[], faults: string[]): void {
    const say = (fault: string) => faults.push(`${this.service} ${this.view.includeNotReady}: ${fault}`)
    faults.push(...this.faults)
    let before = -1n
    for (const { kind, revision, whole, table } of this.frames) {
      if (revision < before || (revision === before && kind === 'DELTA')) say(`${kind} ${revision} follows ${before}`)
      before = revision
      const truth = tableAt(revision)
      const wholeTruth = JSON.stringify(shownOf(truth, { port: null, includeNotReady: true }))
      const viewTruth = JSON.stringify(shownOf(truth, this.view))
      if (whole !== null && whole !== wholeTruth) say(`${kind} ${revision} has the table ${whole}, and it was ${wholeTruth}`)
      if (table !== viewTruth) say(`after ${kind} ${revision} the subscriber has ${table}, and it was ${viewTruth}`)
    }
  }

  #take({ kind, revision, endpoint, added, removed }: EndpointFrame, isFirst: boolean): void {
    if (kind === 'SNAPSHOT') this.#table.clear()
    else if (isFirst) this.faults.push(`the first frame is ${kind}`)
    if (kind === 'SNAPSHOT' && !isFirst && this.#revision !== null) this.faults.push(`a SNAPSHOT at ${revision} after ${this.#revision}`)
    for (const { id } of removed) if (!this.#table.delete(id)) this.faults.push(`${id} is removed at ${revision} and was not there`)
    for (const { id, ready } of added) this.#table.set(id, ready)
    this.#revision = BigInt(revision)
    const whole =
      endpoint && JSON.stringify([...endpoint.addresses].sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ id, ready }) => [id, ready]))
    this.frames.push({ kind, revision: this.#revision, whole, table: this.tableText })
  }
}
