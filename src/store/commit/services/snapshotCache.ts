import type { Revision, ServiceId } from '../../../model/id.ts'
import type { ServiceSnapshot } from '../../../model/service.ts'

/** About 1 kB each. */
const mostRows = 200_000

/**
 * The last known state of services, so that a commit needs no read. An entry may be old: the guard finds that out. Bounded by rows; the
 * longest unused goes first.
 */
export class SnapshotCache {
  // In the order of use.
  readonly #entries = new Map<ServiceId, ServiceSnapshot>()
  #rows = 0

  /** Services that are kept. */
  get size(): number {
    return this.#entries.size
  }

  get(id: ServiceId): ServiceSnapshot | undefined {
    const snapshot = this.#entries.get(id)
    if (snapshot) {
      this.#entries.delete(id)
      this.#entries.set(id, snapshot)
    }
    return snapshot
  }

  /** After a commit or a load. A deleted service is not kept: nothing more happens to it. */
  set(snapshot: ServiceSnapshot): void {
    this.drop(snapshot.id)
    if (snapshot.columns.deletedAt !== null) return
    this.#entries.set(snapshot.id, snapshot)
    this.#rows += rowsOf(snapshot)
    for (const id of this.#entries.keys()) {
      if (this.#rows <= mostRows || id === snapshot.id) break
      this.drop(id)
    }
  }

  drop(id: ServiceId): void {
    const snapshot = this.#entries.get(id)
    if (!snapshot) return
    this.#entries.delete(id)
    this.#rows -= rowsOf(snapshot)
  }

  /** The log has a fact of the service at `revision`: what is older than it is of no use. */
  dropOlder(id: ServiceId, revision: Revision): void {
    const snapshot = this.#entries.get(id)
    if (snapshot && snapshot.revision < revision) this.drop(id)
  }

  clear(): void {
    this.#entries.clear()
    this.#rows = 0
  }
}

function rowsOf(snapshot: ServiceSnapshot): number {
  return (
    2 +
    snapshot.replicas.size +
    snapshot.versions.size +
    snapshot.contents.size / 8 +
    snapshot.slots.length +
    snapshot.timers.size
  )
}
