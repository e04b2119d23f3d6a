import type { ReplicaId } from '../../model/id.ts'
import { isActive, leavesWhenReplaced } from '../../model/replica.ts'
import type { RollingReplica, RollingResult, RollingStart, RollingStop, RollingView } from './rollingView.ts'

/**
 * Every active replica is in exactly one bucket, by its content and by whether it is available. Everything that is
 * counted is counted from the buckets.
 */
export const buckets = {
  /** Replicas of the target's content that stay. */
  newWaiting: 0,
  newAvailable: 1,
  /** Replicas of other content that stay. */
  oldWaiting: 2,
  oldAvailable: 3,
  /** Replicas that must be replaced whatever their content is: by a drain, a restart, a user, or because their host has moved. */
  leavingWaiting: 4,
  leavingAvailable: 5,
} as const
export type Bucket = (typeof buckets)[keyof typeof buckets]

export interface Counts {
  readonly active: number
  readonly new: number
  readonly newWaiting: number
  readonly oldWaiting: number
  readonly leaving: number
  readonly outdated: number
  readonly available: number
  /** s (R1), which is at least 1 while a replica leaves for a drain or because a user moves it (R15). */
  readonly maxSurge: number
}

/** Newer than every committed row, so that what was started in this commit is dropped first. */
const inThisCommit = Number.MAX_SAFE_INTEGER
const noId = '' as ReplicaId

/** The active replicas while a commit steps them, and what becomes of them within the row cap. */
export class Roster {
  readonly view: RollingView
  counts: Counts
  /** The row cap left something for the next commit. */
  capped = false
  readonly #replicas: RollingReplica[] = []
  readonly #stopped = new Map<RollingReplica, RollingStop['reason']>()
  readonly #started = new Set<RollingReplica>()
  #rowsLeft: number

  constructor(view: RollingView) {
    this.view = view
    this.#rowsLeft = view.cap
    for (const replica of view.replicas) {
      if (isActive(replica)) this.#replicas.push(replica)
    }
    this.counts = this.#countReplicas()
  }

  /** Counts again after starts and stops. */
  recount(): void {
    this.counts = this.#countReplicas()
  }

  /** Everything that is active now. */
  active(): readonly RollingReplica[] {
    return this.#stopped.size === 0 ? this.#replicas : this.#replicas.filter((replica) => !this.#stopped.has(replica))
  }

  /** The active replicas of some buckets. */
  members(...of: readonly Bucket[]): RollingReplica[] {
    return this.active().filter((replica) => of.includes(this.#bucketOf(replica)))
  }

  /** The replicas that a user moves (R15), also those that this commit stops. */
  moved(): RollingReplica[] {
    return this.#replicas.filter(({ leaving }) => leaving === 'REQUEUE')
  }

  isCurrent(replica: RollingReplica): boolean {
    return replica.contentNumber === this.view.target.contentNumber
  }

  /**
   * The version number under which another replica of its content is started, which is the target's for equal content.
   */
  versionFor(replica: RollingReplica): number {
    return this.isCurrent(replica) ? this.view.target.number : replica.versionNumber
  }

  /** How many of the wanted rows the cap leaves. */
  allow(wanted: number): number {
    if (wanted > this.#rowsLeft) this.capped = true
    return Math.min(wanted, this.#rowsLeft)
  }

  stop(replica: RollingReplica, reason: RollingStop['reason']): void {
    this.#rowsLeft--
    this.#stopped.set(replica, reason)
  }

  /** Starts a replica of the sibling's version; without a sibling, at the target. */
  start(sibling: RollingReplica | null, twinOf: ReplicaId | null): void {
    this.#rowsLeft--
    const { target } = this.view
    const started: RollingReplica = {
      id: noId,
      index: this.#started.size,
      versionNumber: sibling === null ? target.number : this.versionFor(sibling),
      contentNumber: sibling === null ? target.contentNumber : sibling.contentNumber,
      state: 'PENDING',
      ready: false,
      available: false,
      leaving: null,
      twinOf,
      notBefore: null,
      createdAt: inThisCommit,
    }
    this.#started.add(started)
    this.#replicas.push(started)
  }

  /** The starts and stops of this commit. Rows that it both started and stopped are in neither list. */
  result(): RollingResult {
    const starts: RollingStart[] = []
    const stops: RollingStop[] = []
    for (const started of this.#started) {
      if (!this.#stopped.has(started)) starts.push({ versionNumber: started.versionNumber, twinOf: started.twinOf })
    }
    for (const [replica, reason] of this.#stopped)
      if (!this.#started.has(replica)) stops.push({ id: replica.id, reason })
    return { starts, stops, capped: this.capped }
  }

  #bucketOf(replica: RollingReplica): Bucket {
    if (replica.leaving !== null) return replica.available ? buckets.leavingAvailable : buckets.leavingWaiting
    if (this.isCurrent(replica)) return replica.available ? buckets.newAvailable : buckets.newWaiting
    return replica.available ? buckets.oldAvailable : buckets.oldWaiting
  }

  #countReplicas(): Counts {
    const sizes: [number, number, number, number, number, number] = [0, 0, 0, 0, 0, 0]
    let maxSurge = this.view.maxSurge
    for (const replica of this.active()) {
      sizes[this.#bucketOf(replica)]++
      if (leavesWhenReplaced(replica)) maxSurge = Math.max(1, maxSurge)
    }
    const [newWaiting, newAvailable, oldWaiting, oldAvailable, leavingWaiting, leavingAvailable] = sizes
    const current = newWaiting + newAvailable
    const leaving = leavingWaiting + leavingAvailable
    const outdated = oldWaiting + oldAvailable + leaving
    return {
      active: current + outdated,
      new: current,
      newWaiting,
      oldWaiting,
      leaving,
      outdated,
      available: newAvailable + oldAvailable + leavingAvailable,
      maxSurge,
    }
  }
}
