import type { WaitingReplica } from '../../model/host.ts'
import type { HostId } from '../../model/id.ts'
import type { Candidate, Shape } from './candidate.ts'
import type { LoadIndex } from './loadIndex.ts'

/**
 * Searches workers for equal replicas of one service: first those on hosts with the fewest replicas of the service
 * (R14), and of these the least loaded. NONE looks at the load only; STRICT ends at maxPerHost. While a placement runs,
 * rooms shrink and counts grow. So a worker that was skipped once stays skipped at this level, and the next replica's
 * search continues where this one's ended.
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

  /** Finds the best worker, never on `banned` (R15), and on another host than `avoided` if there is one (R10). */
  find(avoided: HostId | null, banned: HostId | null): Candidate | null {
    const first = this.#advanceCursor(this.#cursor, null, null)
    // The searches that leave out a host have cursors of their own, because the other replicas may use that host.
    const best =
      first !== null && first.host.id === banned ? this.#advanceCursor({ ...this.#cursor }, null, banned) : first
    if (best === null || best.host.id !== avoided) return best
    return this.#advanceCursor({ ...this.#cursor }, avoided, banned) ?? best
  }

  /** Moves the cursor to the next worker that the replica can have outside of `avoided` and `banned`. */
  #advanceCursor(cursor: Cursor, avoided: HostId | null, banned: HostId | null): Candidate | null {
    while (this.#allowsCount(cursor.level)) {
      for (let places = this.#index.at(cursor.bucket); places !== undefined; places = this.#index.at(++cursor.bucket)) {
        for (; cursor.position < places.length; cursor.position++) {
          const candidate = places[cursor.position]
          if (candidate === null || candidate === undefined) continue
          if (candidate.host.id === avoided || candidate.host.id === banned) continue
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
  /** The number of the service's replicas on the hosts that are looked at now. */
  level: number
  /** The lowest number among the hosts that were skipped because they have more. */
  nextLevel: number
  bucket: number
  position: number
}
