/** How much history is kept. Services, replicas that have not ended and hosts are never trimmed. */
export interface Retention {
  readonly facts: FactRetention
  readonly events: AgeRetention
  /** How long ended replicas are kept. A deleted service goes with the last of its replicas. */
  readonly endedReplicas: AgeRetention
  /**
   * How many versions and rollouts of each service are kept. A version that a replica or a kept rollout names is kept
   * as well.
   */
  readonly versionsKept: number
}

/**
 * How much of the fact log is kept (R16): the newest `kept` facts and everything younger than `keptSeconds`, but never
 * more than `mostKept`.
 */
export interface FactRetention {
  readonly kept: number
  readonly keptSeconds: number
  readonly mostKept: number
}

/** Everything younger than `keptHours` is kept, but never more than `mostKept`. */
export interface AgeRetention {
  readonly keptHours: number
  readonly mostKept: number
}

/** How long an idempotencyKey is remembered (R17). */
export const idempotencyKeyHours = 24

/** How long a batch's id is kept: a server asks for it within moments of a cut connection. */
export const batchHours = 1
