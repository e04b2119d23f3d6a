import { setTimeout as wait } from 'node:timers/promises'
import type { Rng } from '../feed/rng.ts'
import { type Frame, type Message, Subscriber } from '../feed/subscriber.ts'
import type { ApiClient } from '../support/drivers/apiClient.ts'
import { until } from '../support/fixtures/until.ts'
import type { Tally } from './tally.ts'

/** A server that says nothing for longer has frozen: there is a BOOKMARK every 15 s. */
const silenceSeconds = 20
const retryMillis = 200

export interface Followed {
  /** It asks for BOOKMARKs. */
  readonly document: string
  /** Asked at each beginning: where it goes on. */
  readonly variables: () => Record<string, unknown>
  readonly take: (frame: Frame) => void
}

/** One subscription through servers that die and freeze: it leaves at random, and comes back to any of them. */
export class SoakStream {
  readonly #followed: Followed
  readonly #clients: readonly ApiClient[]
  readonly #rng: Rng
  readonly #tally: Tally
  #subscriber: Subscriber | null = null
  #stopped = false

  constructor(followed: Followed, clients: readonly ApiClient[], rng: Rng, tally: Tally) {
    this.#followed = followed
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

  async #follow(): Promise<void> {
    const client = this.#rng.of(this.#clients)
    const subscriber = await Subscriber.open(client)
    this.#subscriber = subscriber
    subscriber.subscribe(this.#followed.document, this.#followed.variables())
    for (let left = 1 + this.#rng.below(60); left > 0 && !this.#stopped; left--) {
      await until(() => this.#stopped || subscriber.closed || subscriber.waiting > 0, 'something comes', silenceSeconds)
      if (this.#stopped || subscriber.waiting === 0) return
      if (!this.#take(await subscriber.next(), client)) return
    }
  }

  /** False: nothing more comes. */
  #take({ type, payload }: Message, { url }: ApiClient): boolean {
    const [frame] = Object.values(payload?.data ?? {})
    if (type === 'next' && frame != null) {
      this.#followed.take(frame)
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
