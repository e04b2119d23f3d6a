import type { Client } from 'graphql-ws/client'
import { until } from '../fixtures/until.ts'
import type { ApiClient } from './apiClient.ts'

export interface WatchedAddress {
  readonly id: string
  readonly replicaId: string
  readonly index: number
  readonly start: number
  readonly hostPort: string
}

interface Frame {
  readonly kind: string
  readonly revision: string
  readonly endpoint: { readonly addresses: readonly WatchedAddress[] } | null
  readonly added: readonly WatchedAddress[]
  readonly removed: readonly WatchedAddress[]
}

const address = '{ id replicaId index start hostPort }'
const query = `subscription ($service: String!, $after: Revision) { endpointChanged(service: { name: $service }, after: $after) {
  kind revision endpoint { addresses ${address} } added ${address} removed ${address}
} }`

/** Follows the ready addresses of a service over graphql-ws, by `added` and `removed`, and holds every frame to what it promises. */
export class EndpointWatch {
  readonly frames: Frame[] = []
  readonly #faults: string[] = []
  readonly #table = new Map<string, WatchedAddress>()
  readonly #service: string
  #client: Client
  /** Why it ended before its last frame, while nobody has resumed it. */
  #cut: string | null = null
  #closed = false

  constructor(api: ApiClient, service: string) {
    this.#service = service
    this.#client = this.#follow(api, null)
  }

  /** What was not as it should be. */
  get faults(): readonly string[] {
    return this.#cut === null ? this.#faults : [...this.#faults, this.#cut]
  }

  /** Goes on with what it has, on the server that has come back or another one: the frames must abut. */
  resumeOn(api: ApiClient): void {
    this.#client.terminate()
    this.#cut = null
    this.#client = this.#follow(api, this.frames.at(-1)?.revision ?? null)
  }

  get table(): readonly WatchedAddress[] {
    return [...this.#table.values()].toSorted((a, b) => a.index - b.index)
  }

  get gone(): boolean {
    return this.frames.at(-1)?.kind === 'GONE'
  }

  /** Waits for a table. */
  until(
    what: string,
    check: (table: readonly WatchedAddress[]) => boolean,
    seconds = 60,
  ): Promise<readonly WatchedAddress[]> {
    return until(() => (check(this.table) ? this.table : null), what, seconds)
  }

  close(): void {
    this.#closed = true
    this.#client.terminate()
  }

  #follow(api: ApiClient, after: string | null): Client {
    const client = api.socket()
    client.subscribe<{ endpointChanged: Frame }>(
      { query, variables: { service: this.#service, after } },
      {
        next: ({ data, errors }) =>
          data == null ? this.#faults.push(JSON.stringify(errors)) : this.#take(data.endpointChanged),
        error: (error) => {
          if (!this.#closed && client === this.#client)
            this.#cut = `the subscription failed: ${Array.isArray(error) ? JSON.stringify(error) : String(error)}`
        },
        complete: () => undefined,
      },
    )
    return client
  }

  #take(frame: Frame): void {
    const before = this.frames.at(-1)
    const { kind, revision } = frame
    if (before === undefined && kind !== 'SNAPSHOT') this.#faults.push(`the first frame is ${kind}`)
    if (before !== undefined && kind === 'SNAPSHOT')
      this.#faults.push(`a SNAPSHOT at ${revision} after ${before.revision}`)
    const isEarlier = before !== undefined && BigInt(revision) < BigInt(before.revision)
    const isSame = kind !== 'BOOKMARK' && revision === before?.revision
    if (isEarlier || isSame) this.#faults.push(`${kind} ${revision} after ${before?.revision}`)
    this.frames.push(frame)
    if (kind === 'SNAPSHOT' || kind === 'GONE') this.#table.clear()
    for (const { id } of frame.removed)
      if (!this.#table.delete(id)) this.#faults.push(`${id} was removed and was not there`)
    for (const one of frame.added) this.#table.set(one.id, one)
    const whole = frame.endpoint?.addresses.map(({ id }) => id).toSorted()
    const kept = [...this.#table.keys()].toSorted()
    if (whole !== undefined && whole.join() !== kept.join())
      this.#faults.push(`at ${revision}: ${whole.join()} is not ${kept.join()}`)
  }
}
