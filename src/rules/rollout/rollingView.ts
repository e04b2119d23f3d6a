import type { ReplicaId } from '../../model/id.ts'
import type { Replica } from '../../model/service.ts'

/** What the rolling step looks at of a replica: rows of Replica are passed as they are. STOPPING and ENDED ones are skipped. */
export type RollingReplica = Pick<
  Replica,
  | 'id'
  | 'index'
  | 'versionNumber'
  | 'contentNumber'
  | 'state'
  | 'ready'
  | 'available'
  | 'leaving'
  | 'twinOf'
  | 'notBefore'
  | 'createdAt'
>

export interface RollingView {
  /** n: the desired replicas; 0 for a service that is being deleted. */
  readonly desired: number
  /** s and u in replicas (R1); a drain adds to s by itself (R15). */
  readonly maxSurge: number
  readonly maxUnavailable: number
  readonly target: { readonly number: number; readonly contentNumber: number }
  readonly paused: boolean
  /** The desired replicas before a scale in this commit (R4), null: there was none. */
  readonly grownFrom: number | null
  /** Rows that may be started or stopped in this commit. */
  readonly cap: number
  readonly replicas: Iterable<RollingReplica>
}

export interface RollingStart {
  readonly versionNumber: number
  /** The leaving replica that it is started for (R7). */
  readonly twinOf: ReplicaId | null
}

export interface RollingStop {
  readonly id: ReplicaId
  /** `scale`: there are too many; `rollout`: it is outdated (its own `leaving` says more). */
  readonly reason: 'scale' | 'rollout'
}

/** Apply the stops first (a PENDING one just ends), then give each start, in order, the smallest index that no active replica has. */
export interface RollingResult {
  readonly starts: readonly RollingStart[]
  readonly stops: readonly RollingStop[]
  /** The cap cut it short: run it again in another commit, at once. */
  readonly capped: boolean
}
