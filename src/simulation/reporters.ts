import type { HostId, ReplicaId, WorkerId } from '../model/id.ts'
import type { ReplicaReport, Reporter, ServiceIntent } from '../model/intent.ts'

/** A worker on its host. */
export type WorkerPlace = Pick<Reporter, 'workerId' | 'hostId'>

/**
 * Everything about workers as reporters: the epoch of each one's registration, how often it has reported, and whether
 * anybody hears its host.
 */
export class Reporters {
  readonly #firstEpoch: number
  readonly #epochs = new Map<WorkerId, number>()
  readonly #sequences = new Map<WorkerId, number>()
  readonly #silent = new Set<HostId>()

  /** `firstEpoch` is the epoch of every worker that has not registered again. */
  constructor(firstEpoch: number) {
    this.#firstEpoch = firstEpoch
  }

  /** Silences a host: no report from it arrives, and nothing reaches it. */
  silence(host: HostId): void {
    this.#silent.add(host)
  }

  hear(host: HostId): void {
    this.#silent.delete(host)
  }

  hears(host: HostId): boolean {
    return !this.#silent.has(host)
  }

  /** Registers the worker again: it gets a new epoch, in which its reports are counted from 1. */
  register(place: WorkerPlace): Reporter {
    this.#epochs.set(place.workerId, this.#epochOf(place.workerId) + 1)
    this.#sequences.delete(place.workerId)
    return this.of(place)
  }

  of({ workerId, hostId }: WorkerPlace): Reporter {
    return { workerId, hostId, epoch: this.#epochOf(workerId) }
  }

  /** Makes one report per worker that is heard, in the order in which each spoke first. */
  reportsOf(reports: readonly ReplicaReport[], placeOf: (replica: ReplicaId) => WorkerPlace | null): ServiceIntent[] {
    const byWorker = new Map<WorkerId, { readonly place: WorkerPlace; readonly own: ReplicaReport[] }>()
    for (const report of reports) {
      const place = placeOf(report.replica)
      if (place === null || this.#silent.has(place.hostId)) continue
      const known = byWorker.get(place.workerId)
      if (known === undefined) byWorker.set(place.workerId, { place, own: [report] })
      else known.own.push(report)
    }
    return [...byWorker.values()].map(({ place, own }) => this.report(place, own, false))
  }

  report(place: WorkerPlace, reports: readonly ReplicaReport[], full: boolean): ServiceIntent {
    const sequence = (this.#sequences.get(place.workerId) ?? 0) + 1
    this.#sequences.set(place.workerId, sequence)
    return { kind: 'report', reporter: this.of(place), sequence, reports, ...(full ? { full } : {}) }
  }

  #epochOf(worker: WorkerId): number {
    return this.#epochs.get(worker) ?? this.#firstEpoch
  }
}
