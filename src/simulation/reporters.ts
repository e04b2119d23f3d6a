import type { HostId, ReplicaId, WorkerId } from '../model/id.ts'
import type { ReplicaReport, Reporter, ServiceIntent } from '../model/intent.ts'

/** One worker per host, as the one that speaks: its registration's epoch, how often it has reported, and whether anybody hears it. */
export class Reporters {
  readonly #firstEpoch: number
  readonly #epochs = new Map<HostId, number>()
  readonly #sequences = new Map<HostId, number>()
  readonly #silent = new Set<HostId>()

  /** `firstEpoch`: of all that have not registered again. */
  constructor(firstEpoch: number) {
    this.#firstEpoch = firstEpoch
  }

  /** Nothing that it says arrives, and it is told nothing. */
  silence(host: HostId): void {
    this.#silent.add(host)
  }

  hear(host: HostId): void {
    this.#silent.delete(host)
  }

  hears(host: HostId): boolean {
    return !this.#silent.has(host)
  }

  /** A new worker on the host: a new epoch, whose reports count anew. */
  register(host: HostId): Reporter {
    this.#epochs.set(host, this.#epochOf(host) + 1)
    this.#sequences.delete(host)
    return this.of(host)
  }

  of(host: HostId): Reporter {
    return { workerId: `worker-of-${host}` as WorkerId, hostId: host, epoch: this.#epochOf(host) }
  }

  /** One report per worker that is heard, in the order in which each spoke first. */
  reportsOf(reports: readonly ReplicaReport[], hostOf: (replica: ReplicaId) => HostId | null): ServiceIntent[] {
    const byHost = new Map<HostId, ReplicaReport[]>()
    for (const said of reports) {
      const host = hostOf(said.replica)
      if (host === null || this.#silent.has(host)) continue
      const own = byHost.get(host)
      if (own === undefined) byHost.set(host, [said])
      else own.push(said)
    }
    return [...byHost].map(([host, own]) => this.report(host, own, false))
  }

  report(host: HostId, reports: readonly ReplicaReport[], full: boolean): ServiceIntent {
    const sequence = (this.#sequences.get(host) ?? 0) + 1
    this.#sequences.set(host, sequence)
    return { kind: 'report', reporter: this.of(host), sequence, reports, ...(full ? { full } : {}) }
  }

  #epochOf(host: HostId): number {
    return this.#epochs.get(host) ?? this.#firstEpoch
  }
}
