import type { EndpointAddress, EndpointView } from '../../src/model/endpoint.ts'
import { shownOf } from './shownOf.ts'
import type { Frame } from './subscriber.ts'

/** What a subscriber whose frames are recorded asks for. */
export const endpointDocument = `subscription ($service: String!, $includeNotReady: Boolean, $after: Revision) {
  endpointChanged(service: { name: $service }, includeNotReady: $includeNotReady, after: $after, bookmarks: true) {
    kind revision endpoint { id revision addresses(includeNotReady: true) { id ready } } added { id ready } removed { id }
  }
}`

interface Address {
  readonly id: string
  readonly ready: boolean
}

export interface EndpointFrame extends Frame {
  readonly endpoint: { readonly id: string; readonly revision: string; readonly addresses: readonly Address[] }
  readonly added: readonly Address[]
  readonly removed: readonly Address[]
}

interface Seen {
  readonly kind: Frame['kind']
  readonly revision: bigint
  /** The frame's own whole table. */
  readonly whole: string
  /** What the subscriber has after it. */
  readonly table: string
}

/** One subscriber's table, kept by its frames, and what it was after each. */
export class EndpointRecord {
  readonly service: string
  readonly view: EndpointView
  readonly frames: Seen[] = []
  readonly #faults: string[] = []
  readonly #table = new Map<string, boolean>()
  #revision: bigint | null = null
  #checked = -1n

  constructor(service: string, view: EndpointView) {
    this.service = service
    this.view = view
  }

  /** Null before the first frame. */
  get revision(): bigint | null {
    return this.#revision
  }

  get tableText(): string {
    return JSON.stringify([...this.#table].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** Takes the next frame. `mayBeSnapshot`: it may begin anew; otherwise only the very first frame does. */
  take({ kind, revision, endpoint, added, removed }: EndpointFrame, mayBeSnapshot = false): void {
    if (kind === 'GONE') {
      // Another service may come to have the name.
      this.#table.clear()
      this.#revision = null
      return
    }
    if (kind !== 'SNAPSHOT' && this.#revision === null) this.#faults.push(`the first frame is ${kind}`)
    if (kind === 'SNAPSHOT' && this.#revision !== null && !mayBeSnapshot)
      this.#faults.push(`a SNAPSHOT at ${revision} after ${this.#revision}`)
    if (kind === 'SNAPSHOT') this.#table.clear()
    for (const { id } of removed)
      if (!this.#table.delete(id)) this.#faults.push(`${id} is removed at ${revision} and was not there`)
    for (const { id, ready } of added) this.#table.set(id, ready)
    this.#revision = BigInt(revision)
    const whole = JSON.stringify(
      [...endpoint.addresses].sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ id, ready }) => [id, ready]),
    )
    this.frames.push({ kind, revision: this.#revision, whole, table: this.tableText })
  }

  /** Compares the next `count` frames with what was so, revision by revision, and forgets them. */
  check(tableAt: (revision: bigint) => readonly EndpointAddress[], faults: string[], count = this.frames.length): void {
    const say = (fault: string) =>
      faults.push(`${this.service}${this.view.includeNotReady ? ' with not ready ones' : ''}: ${fault}`)
    for (const fault of this.#faults.splice(0)) say(fault)
    for (const { kind, revision, whole, table } of this.frames.splice(0, count)) {
      if (revision < this.#checked || (revision === this.#checked && kind === 'DELTA'))
        say(`${kind} ${revision} follows ${this.#checked}`)
      this.#checked = revision
      const truth = tableAt(revision)
      const wholeTruth = JSON.stringify(shownOf(truth, { port: null, includeNotReady: true }))
      const viewTruth = JSON.stringify(shownOf(truth, this.view))
      if (whole !== wholeTruth) say(`${kind} ${revision} has the table ${whole}, and it was ${wholeTruth}`)
      if (table !== viewTruth) say(`after ${kind} ${revision} the subscriber has ${table}, and it was ${viewTruth}`)
    }
  }
}
