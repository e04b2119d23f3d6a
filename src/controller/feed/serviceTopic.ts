import { compareAddresses, type EndpointAddress } from '../../model/endpoint.ts'
import type { ServiceFactData } from '../../model/fact.ts'
import type { ReplicaId, Revision, ServiceId } from '../../model/id.ts'
import { ChangeLog } from './changeLog.ts'
import type { AddressChange } from './endpointNet.ts'

/** One change of a service, as its subscribers need it. */
export interface ServiceTopicChange {
  readonly addresses: ReadonlyMap<string, AddressChange>
  /** Replicas created, changed or ended, and of those the ones that have ended. */
  readonly replicas: readonly ReplicaId[]
  readonly ended: readonly ReplicaId[]
}

/** The endpoint table as it is in the database at `revision`. */
export interface EndpointReading {
  readonly revision: Revision
  readonly addresses: readonly EndpointAddress[]
}

/**
 * What all subscribers of one service share: its endpoint table and its last changes, kept by the facts. It exists while somebody
 * subscribes. It is opened before the table is read, so no fact can fall between the two: facts that come during the read wait, and those
 * that the reading already has are left out.
 */
export class ServiceTopic {
  readonly serviceId: ServiceId
  readonly #wakes = new Set<() => void>()
  #early: { revision: Revision; data: ServiceFactData }[] = []
  #table: Map<string, EndpointAddress> | null = null
  /** The table as its subscribers share it, made when the first asks. */
  #addresses: readonly EndpointAddress[] | null = null
  #log = new ChangeLog<ServiceTopicChange>(0n)
  #goneAt: Revision | null = null
  #lost = false

  constructor(serviceId: ServiceId) {
    this.serviceId = serviceId
  }

  /** The revision of the last change that the table has. */
  get revision(): Revision {
    return this.#log.head
  }

  /** Facts were missed: what is known here is no longer kept right. Subscribers begin anew, on another topic. */
  get lost(): boolean {
    return this.#lost
  }

  /** Set once the service is deleted: nothing changes any more. */
  get goneAt(): Revision | null {
    return this.#goneAt
  }

  get subscribers(): number {
    return this.#wakes.size
  }

  /** The whole table at `revision`, by index, then port name. */
  get addresses(): readonly EndpointAddress[] {
    this.#addresses ??= [...(this.#table?.values() ?? [])].sort(compareAddresses)
    return this.#addresses
  }

  subscribe(wake: () => void): () => void {
    this.#wakes.add(wake)
    return () => this.#wakes.delete(wake)
  }

  since(cursor: Revision): readonly ServiceTopicChange[] | null {
    return this.#log.since(cursor)
  }

  lose(): void {
    this.#lost = true
    for (const wake of this.#wakes) wake()
  }

  /** Takes the first reading. A later one changes nothing: from then on the facts keep the table. */
  begin(reading: EndpointReading): void {
    if (this.#table !== null) return
    this.#table = new Map(reading.addresses.map((address) => [address.id, address]))
    this.#log = new ChangeLog(reading.revision)
    const early = this.#early
    this.#early = []
    for (const { revision, data } of early) this.take(revision, data)
  }

  /** The next `change` of the service. */
  take(revision: Revision, data: ServiceFactData): void {
    if (this.#table === null) {
      this.#early.push({ revision, data })
      return
    }
    if (revision <= this.#log.head) return
    const addresses = new Map<string, AddressChange>()
    for (const id of data.removed) {
      const before = this.#table.get(id)
      if (before !== undefined) addresses.set(id, { before, after: null })
      this.#table.delete(id)
    }
    for (const address of data.upserted) {
      addresses.set(address.id, { before: this.#table.get(address.id) ?? null, after: address })
      this.#table.set(address.id, address)
    }
    if (addresses.size > 0) this.#addresses = null
    this.#log.append(revision, { addresses, replicas: data.replicas, ended: data.ended })
    if (data.after.deletedAt != null) this.#goneAt = revision
    for (const wake of this.#wakes) wake()
  }
}
