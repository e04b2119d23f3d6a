import type { ReplicaId } from '../model/id.ts'
import type { RollingReplica, RollingResult, RollingStart, RollingStop, RollingView } from './rollingView.ts'

/** Every active replica in exactly one bucket: what it is of, and whether it is available. Whatever is counted is counted from these. */
export interface Buckets {
  /** Of the target's content, and staying. */
  readonly newAvailable: RollingReplica[]
  readonly newWaiting: RollingReplica[]
  /** Of other content, and staying while the service is paused. */
  readonly oldAvailable: RollingReplica[]
  readonly oldWaiting: RollingReplica[]
  /** To be replaced whatever its content is: drain, restart, time limit. */
  readonly leavingAvailable: RollingReplica[]
  readonly leavingWaiting: RollingReplica[]
}

export interface Counts {
  readonly active: number
  readonly new: number
  readonly old: number
  readonly leaving: number
  readonly outdated: number
  readonly available: number
}

/** Newer than every row that is committed: what was started in this commit is the first to be dropped again. */
const inThisCommit = Number.MAX_SAFE_INTEGER
const noId = '' as ReplicaId

/** The active replicas while a commit steps them, and what became of them, within the cap of rows. */
export class Roster {
  readonly view: RollingView
  buckets: Buckets
  counts: Counts
  /** Something was to be done that the cap left for the next commit. */
  capped = false
  readonly #replicas: RollingReplica[] = []
  readonly #stopped = new Map<RollingReplica, RollingStop['reason']>()
  readonly #started = new Set<RollingReplica>()
  #rowsLeft: number

  constructor(view: RollingView) {
    this.view = view
    this.#rowsLeft = view.cap
    for (const replica of view.replicas) {
      if (replica.state !== 'STOPPING' && replica.state !== 'ENDED') this.#replicas.push(replica)
    }
    this.buckets = this.#sorted()
    this.counts = count(this.buckets)
  }

  /** Counts anew, after starts and stops. */
  recount(): void {
    this.buckets = this.#sorted()
    this.counts = count(this.buckets)
  }

  *active(): Generator<RollingReplica> {
    for (const replica of this.#replicas) if (!this.#stopped.has(replica)) yield replica
  }

  isCurrent(replica: RollingReplica): boolean {
    return replica.contentNumber === this.view.target.contentNumber
  }

  /** The number under which another one of its content is started: of equal numbers the target's. */
  versionFor(replica: RollingReplica): number {
    return this.isCurrent(replica) ? this.view.target.number : replica.versionNumber
  }

  /** How many of the rows that are wanted the cap leaves. */
  allow(wanted: number): number {
    if (wanted > this.#rowsLeft) this.capped = true
    return Math.min(wanted, this.#rowsLeft)
  }

  stop(replica: RollingReplica, reason: RollingStop['reason']): void {
    this.#rowsLeft--
    this.#stopped.set(replica, reason)
  }

  /** `sibling`: one of the same version, null: at the target. */
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
      createdAt: inThisCommit,
    }
    this.#started.add(started)
    this.#replicas.push(started)
  }

  /** Rows that were started and stopped in this commit are in neither list. */
  result(): RollingResult {
    const starts: RollingStart[] = []
    const stops: RollingStop[] = []
    for (const started of this.#started) {
      if (!this.#stopped.has(started)) starts.push({ versionNumber: started.versionNumber, twinOf: started.twinOf })
    }
    for (const [replica, reason] of this.#stopped) if (!this.#started.has(replica)) stops.push({ id: replica.id, reason })
    return { starts, stops, capped: this.capped }
  }

  #sorted(): Buckets {
    const buckets: Buckets = {
      newAvailable: [],
      newWaiting: [],
      oldAvailable: [],
      oldWaiting: [],
      leavingAvailable: [],
      leavingWaiting: [],
    }
    for (const replica of this.#replicas) {
      if (this.#stopped.has(replica)) continue
      if (replica.leaving !== null) (replica.available ? buckets.leavingAvailable : buckets.leavingWaiting).push(replica)
      else if (this.isCurrent(replica)) (replica.available ? buckets.newAvailable : buckets.newWaiting).push(replica)
      else (replica.available ? buckets.oldAvailable : buckets.oldWaiting).push(replica)
    }
    return buckets
  }
}

function count(buckets: Buckets): Counts {
  const current = buckets.newAvailable.length + buckets.newWaiting.length
  const old = buckets.oldAvailable.length + buckets.oldWaiting.length
  const leaving = buckets.leavingAvailable.length + buckets.leavingWaiting.length
  return {
    active: current + old + leaving,
    new: current,
    old,
    leaving,
    outdated: old + leaving,
    available: buckets.newAvailable.length + buckets.oldAvailable.length + buckets.leavingAvailable.length,
  }
}
