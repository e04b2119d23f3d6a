/** How much history is kept. What lives (services, their replicas that have not ended, hosts) is never trimmed. */
export interface Retention {
  readonly facts: FactRetention
  readonly events: AgeRetention
  /** Of ended replicas; gone services go with the last of theirs. */
  readonly endedReplicas: AgeRetention
  /** Versions and rollouts of each service. What a replica or a kept rollout names is kept as well. */
  readonly versionsKept: number
}

/** Of the fact log (R16): the newest `kept` and whatever is younger than `keptSeconds`, yet never more than `mostKept`. */
export interface FactRetention {
  readonly kept: number
  readonly keptSeconds: number
  readonly mostKept: number
}

/** What is younger than `keptHours`, yet never more than `mostKept`. */
export interface AgeRetention {
  readonly keptHours: number
  readonly mostKept: number
}

/** How long an idempotencyKey is known (R17). */
export const idempotencyKeyHours = 24

/** A batch's id is asked for within moments of a cut connection. */
export const batchHours = 1
