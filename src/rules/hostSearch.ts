import type { WaitingReplica } from '../model/host.ts'
import type { HostId } from '../model/id.ts'
import type { Candidate, Shape } from './candidate.ts'
import type { LoadIndex } from './loadIndex.ts'

/**
 * The search of hosts for equal replicas of one service: those with the fewest replicas of the service first (R14), of these the least loaded.
 * NONE looks at the load only; STRICT ends at maxPerHost. While a placement runs rooms shrink and counts grow, so a host that was passed over
 * once stays passed over at this level, and the next replica's search goes on where this one's ended.
 */
export class HostSearch {
  readonly shape: Shape
  readonly #index: LoadIndex
  readonly #replica: Pick<WaitingReplica, 'serviceId' | 'spreadMode' | 'maxPerHost'>
  /** Replicas of the service on the hosts that are looked at now. */
  #level = 0
  /** The fewest on the hosts passed over because they have more. */
  #nextLevel = Number.POSITIVE_INFINITY
  #bucket = 0
  #position = 0

  constructor(index: LoadIndex, replica: Pick<WaitingReplica, 'serviceId' | 'spreadMode' | 'maxPerHost'>, shape: Shape) {
    this.#index = index
    this.#replica = replica
    this.shape = shape
  }

  /** The best host, another than `avoided` where there is one (R10). */
  find(avoided: HostId | null): Candidate | null {
    return (avoided === null ? null : this.#findOther(avoided)) ?? this.#findNext()
  }

  #count(candidate: Candidate): number {
    return this.#replica.spreadMode === 'NONE' ? 0 : candidate.replicasOf(this.#replica.serviceId)
  }

  #allows(count: number): boolean {
    return this.#replica.spreadMode === 'STRICT' ? count < this.#replica.maxPerHost : count < Number.POSITIVE_INFINITY
  }

  #findNext(): Candidate | null {
    while (this.#allows(this.#level)) {
      for (let places = this.#index.at(this.#bucket); places !== undefined; places = this.#index.at(++this.#bucket)) {
        for (; this.#position < places.length; this.#position++) {
          const candidate = places[this.#position]
          if (candidate === null || candidate === undefined) continue
          const count = this.#count(candidate)
          if (count > this.#level) this.#nextLevel = Math.min(this.#nextLevel, count)
          else if (count === this.#level && candidate.fits(this.shape)) return candidate
        }
        this.#position = 0
      }
      this.#level = this.#nextLevel
      this.#nextLevel = Number.POSITIVE_INFINITY
      this.#bucket = 0
    }
    return null
  }

  /** A look at all hosts, which leaves the place of the others' search alone: it may not pass over the avoided host. */
  #findOther(avoided: HostId): Candidate | null {
    let best: Candidate | null = null
    let fewest = Number.POSITIVE_INFINITY
    for (const candidate of this.#index) {
      const count = this.#count(candidate)
      if (count >= fewest || !this.#allows(count) || candidate.host.id === avoided || !candidate.fits(this.shape)) continue
      best = candidate
      fewest = count
      if (count <= this.#level) break
    }
    return best
  }
}
