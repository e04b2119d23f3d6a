import type { ReplicaId } from '../../model/id.ts'
import type { Replica } from '../../model/service.ts'

/**
 * The part of a replica that the rolling step looks at, so that rows of Replica can be passed as they are. STOPPING and
 * ENDED ones are skipped.
 */
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
  /** n, the desired replicas; 0 for a service that is being deleted. */
  readonly desired: number
  /** s and u in replicas (R1). The step itself raises s for a drain (R15). */
  readonly maxSurge: number
  readonly maxUnavailable: number
  readonly target: { readonly number: number; readonly contentNumber: number }
  readonly paused: boolean
  /** The desired replicas before a scale in this commit (R4); null where there was none. */
  readonly grownFrom: number | null
  /** How many rows may be started or stopped in this commit. */
  readonly cap: number
  readonly replicas: Iterable<RollingReplica>
}

export interface RollingStart {
  readonly versionNumber: number
  /** The leaving replica in whose place it is started (R7, R15). */
  readonly twinOf: ReplicaId | null
}

export interface RollingStop {
  readonly id: ReplicaId
  /** `scale` means that there are too many; `rollout` means that it is outdated, and its own `leaving` says more. */
  readonly reason: 'scale' | 'rollout'
}

/**
 * Apply the stops first (a PENDING replica simply ends). Then give each start, in order, the smallest index that no
 * active replica has.
 */
export interface RollingResult {
  readonly starts: readonly RollingStart[]
  readonly stops: readonly RollingStop[]
  /** The row cap stopped the step early, so it must run again at once in another commit. */
  readonly capped: boolean
}
