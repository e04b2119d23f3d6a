import { LRUCache } from 'lru-cache'
import type { Revision, ServiceId } from '../../../model/id.ts'
import type { ServiceSnapshot } from '../../../model/service.ts'

/** The most rows that are kept; each takes about 1 kB. */
const mostRows = 200_000

/**
 * The last known states of services, so that a commit needs no read. An entry may be outdated, which the guard finds
 * out. The cache is bounded by rows, and drops the service first that was unused for the longest time.
 */
export class SnapshotCache {
  readonly #snapshots = new LRUCache<ServiceId, ServiceSnapshot>({ maxSize: mostRows, sizeCalculation: rowsOf })

  /** The number of services that are kept. */
  get size(): number {
    return this.#snapshots.size
  }

  get(id: ServiceId): ServiceSnapshot | undefined {
    return this.#snapshots.get(id)
  }

  /**
   * Keeps the state that a commit or a load returned. A deleted service is not kept, because it does not change any
   * more.
   */
  set(snapshot: ServiceSnapshot): void {
    if (snapshot.columns.deletedAt === null) this.#snapshots.set(snapshot.id, snapshot)
    else this.drop(snapshot.id)
  }

  drop(id: ServiceId): void {
    this.#snapshots.delete(id)
  }

  /** Drops a state that is older than `revision`, at which the log has a fact of the service. */
  dropOlder(id: ServiceId, revision: Revision): void {
    const snapshot = this.#snapshots.peek(id)
    if (snapshot && snapshot.revision < revision) this.drop(id)
  }

  clear(): void {
    this.#snapshots.clear()
  }
}

function rowsOf(snapshot: ServiceSnapshot): number {
  const { replicas, versions, contents, slots, timers } = snapshot
  return Math.ceil(2 + replicas.size + versions.size + contents.size / 8 + slots.length + timers.size)
}
