import type { Client } from 'graphql-ws/client'
import type { ApiClient } from './apiClient.ts'
import { until } from './until.ts'

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
const query = `subscription ($service: String!) { endpointChanged(service: $service) {
  kind revision endpoint { addresses ${address} } added ${address} removed ${address}
} }`

/** Follows the ready addresses of a service over graphql-ws, by `added` and `removed`, and holds every frame to what it promises. */
export class EndpointWatch {
  readonly frames: Frame[] = []
  /** What was not as it should be. */
  readonly faults: string[] = []
  readonly #table = new Map<string, WatchedAddress>()
  readonly #client: Client
  #closed = false

  constructor(api: ApiClient, service: string) {
    this.#client = api.socket()
    this.#client.subscribe<{ endpointChanged: Frame }>(
      { query, variables: { service } },
      {
        next: ({ data, errors }) => (data == null ? this.faults.push(JSON.stringify(errors)) : this.#take(data.endpointChanged)),
        error: (error) => {
          if (!this.#closed) this.faults.push(`the subscription failed: ${String(error)}`)
        },
        complete: () => undefined,
      },
    )
  }

  get table(): readonly WatchedAddress[] {
    return [...this.#table.values()].toSorted((a, b) => a.index - b.index)
  }

  get gone(): boolean {
    return this.frames.at(-1)?.kind === 'GONE'
  }

  /** Waits for a table. */
  until(what: string, check: (table: readonly WatchedAddress[]) => boolean, seconds = 60): Promise<readonly WatchedAddress[]> {
    return until(() => (check(this.table) ? this.table : null), what, seconds)
  }

  close(): void {
    this.#closed = true
    this.#client.terminate()
  }

  #take(frame: Frame): void {
    const before = this.frames.at(-1)
    if (before === undefined && frame.kind !== 'SNAPSHOT') this.faults.push(`the first frame is ${frame.kind}`)
    const { kind, revision } = frame
    const isEarlier = before !== undefined && BigInt(revision) < BigInt(before.revision)
    const isSame = kind !== 'BOOKMARK' && revision === before?.revision
    if (isEarlier || isSame) this.faults.push(`${kind} ${revision} after ${before?.revision}`)
    this.frames.push(frame)
    if (frame.kind === 'SNAPSHOT') this.#table.clear()
    for (const { id } of frame.removed) if (!this.#table.delete(id)) this.faults.push(`${id} was removed and was not there`)
    for (const one of frame.added) this.#table.set(one.id, one)
    const whole = frame.endpoint?.addresses.map(({ id }) => id).toSorted()
    const kept = [...this.#table.keys()].toSorted()
    if (whole !== undefined && whole.join() !== kept.join()) this.faults.push(`at ${frame.revision}: ${whole.join()} is not ${kept.join()}`)
  }
}
