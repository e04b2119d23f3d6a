import type { WaitingReplica } from '../../model/host.ts'
import type { HostId } from '../../model/id.ts'
import type { Candidate, Shape } from './candidate.ts'
import type { LoadIndex } from './loadIndex.ts'

/**
 * The search of workers for equal replicas of one service: those on hosts with the fewest replicas of the service first (R14), of these the least
 * loaded. NONE looks at the load only; STRICT ends at maxPerHost. While a placement runs rooms shrink and counts grow, so a worker that was passed
 * over once stays passed over at this level, and the next replica's search goes on where this one's ended.
 */
export class HostSearch {
  readonly shape: Shape
  readonly #index: LoadIndex
  readonly #replica: Pick<WaitingReplica, 'serviceId' | 'spreadMode' | 'maxPerHost'>
  readonly #cursor: Cursor = { level: 0, nextLevel: Number.POSITIVE_INFINITY, bucket: 0, position: 0 }

  constructor(
    index: LoadIndex,
    replica: Pick<WaitingReplica, 'serviceId' | 'spreadMode' | 'maxPerHost'>,
    shape: Shape,
  ) {
    this.#index = index
    this.#replica = replica
    this.shape = shape
  }

  /** The best worker, on another host than `avoided` where there is one (R10). */
  find(avoided: HostId | null): Candidate | null {
    const best = this.#advanceCursor(this.#cursor, null)
    if (best === null || best.host.id !== avoided) return best
    // A cursor of its own: the others' may not pass over the avoided host.
    return this.#advanceCursor({ ...this.#cursor }, avoided) ?? best
  }

  /** Moves the cursor to the next worker that the replica can have, not on `avoided`. */
  #advanceCursor(cursor: Cursor, avoided: HostId | null): Candidate | null {
    while (this.#allowsCount(cursor.level)) {
      for (let places = this.#index.at(cursor.bucket); places !== undefined; places = this.#index.at(++cursor.bucket)) {
        for (; cursor.position < places.length; cursor.position++) {
          const candidate = places[cursor.position]
          if (candidate === null || candidate === undefined || candidate.host.id === avoided) continue
          const count = this.#replicasOn(candidate)
          if (count > cursor.level) cursor.nextLevel = Math.min(cursor.nextLevel, count)
          else if (count === cursor.level && candidate.fits(this.shape)) return candidate
        }
        cursor.position = 0
      }
      cursor.level = cursor.nextLevel
      cursor.nextLevel = Number.POSITIVE_INFINITY
      cursor.bucket = 0
    }
    return null
  }

  #replicasOn(candidate: Candidate): number {
    return this.#replica.spreadMode === 'NONE' ? 0 : candidate.on.replicasOf(this.#replica.serviceId)
  }

  #allowsCount(count: number): boolean {
    return this.#replica.spreadMode === 'STRICT' ? count < this.#replica.maxPerHost : count < Number.POSITIVE_INFINITY
  }
}

interface Cursor {
  /** Replicas of the service on the hosts that are looked at now. */
  level: number
  /** The fewest on the hosts passed over because they have more. */
  nextLevel: number
  bucket: number
  position: number
}
