import type { ReplicaId } from '../../model/id.ts'
import type { Roster } from './rollingRoster.ts'
import type { RollingReplica } from './rollingView.ts'

/**
 * Knows which leaving replicas have an active twin: the replica that was started in their place while the service is
 * paused (R7), or because a user moves them (R15).
 */
export class Twins {
  readonly #counts = new Map<ReplicaId, number>()

  add({ twinOf }: RollingReplica): void {
    if (twinOf !== null) this.#counts.set(twinOf, (this.#counts.get(twinOf) ?? 0) + 1)
  }

  remove({ twinOf }: RollingReplica): void {
    if (twinOf !== null) this.#counts.set(twinOf, (this.#counts.get(twinOf) ?? 0) - 1)
  }

  has(leaving: ReplicaId): boolean {
    return (this.#counts.get(leaving) ?? 0) > 0
  }
}

export function twinsOf(roster: Roster): Twins {
  const twins = new Twins()
  for (const replica of roster.active()) twins.add(replica)
  return twins
}
