import { compareAddresses, type EndpointAddress } from '../model/endpoint.ts'
import type { ServiceFactData } from '../model/fact.ts'
import type { ReplicaId, Revision, RolloutId, ServiceId } from '../model/id.ts'
import type { EndpointReading } from '../store/read/readEndpoint.ts'
import type { AddressChange } from './endpointNet.ts'
import { Topic } from './topic.ts'

/** A change of a service as its subscribers need it. */
export interface ServiceTopicChange {
  readonly addresses: ReadonlyMap<string, AddressChange>
  /** Replicas created, changed or ended, and of those the ones that have ended. */
  readonly replicas: readonly ReplicaId[]
  readonly ended: readonly ReplicaId[]
  readonly rollouts: readonly RolloutId[]
}

/** Turns a fact into the change that the service's subscribers need. */
export function serviceChangeOf(data: ServiceFactData): ServiceTopicChange {
  const { replicas, ended, rollouts } = data
  const before = new Map(data.replaced.map((address) => [address.id, address]))
  const addresses = new Map<string, AddressChange>()
  for (const id of data.removed) addresses.set(id, { before: before.get(id) ?? null, after: null })
  for (const after of data.upserted) addresses.set(after.id, { before: before.get(after.id) ?? null, after })
  return { addresses, replicas, ended, rollouts }
}

/**
 * Keeps what all subscribers of one service share: its endpoint table and its last changes. It is opened before the table is read, so that no fact
 * is lost between the two: facts that come during the read wait, and those that the reading already contains are left out.
 */
export class ServiceTopic extends Topic<ServiceTopicChange> {
  readonly serviceId: ServiceId
  #early: { revision: Revision; data: ServiceFactData }[] = []
  #table: Map<string, EndpointAddress> | null = null
  /** The table as its subscribers share it, made when the first asks. */
  #addresses: readonly EndpointAddress[] | null = null
  #goneAt: Revision | null = null

  constructor(serviceId: ServiceId) {
    super(0n)
    this.serviceId = serviceId
  }

  /** It is set once the service is deleted, because nothing changes any more. */
  get goneAt(): Revision | null {
    return this.#goneAt
  }

  /** The whole table at `revision`, by index, then port name. */
  get addresses(): readonly EndpointAddress[] {
    this.#addresses ??= [...(this.#table?.values() ?? [])].sort(compareAddresses)
    return this.#addresses
  }

  /** Takes the first reading. A later one changes nothing: from then on the facts keep the table. */
  begin(reading: EndpointReading): void {
    if (this.#table !== null) return
    this.#table = new Map(reading.addresses.map((address) => [address.id, address]))
    this.restart(reading.revision)
    const early = this.#early
    this.#early = []
    for (const { revision, data } of early) this.applyChange(revision, data)
  }

  /** Applies the next `change` of the service to the table. */
  applyChange(revision: Revision, data: ServiceFactData): void {
    if (this.#table === null) {
      this.#early.push({ revision, data })
      return
    }
    if (revision <= this.revision) return
    for (const id of data.removed) this.#table.delete(id)
    for (const address of data.upserted) this.#table.set(address.id, address)
    if (data.removed.length + data.upserted.length > 0) this.#addresses = null
    if (data.after.deletedAt != null) this.#goneAt = revision
    this.append(revision, serviceChangeOf(data))
  }
}
