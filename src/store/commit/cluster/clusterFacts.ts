import type { ClusterFactData, EventText } from '../../../model/fact.ts'
import type { HostId } from '../../../model/id.ts'
import type { Refusal } from '../../../model/refusal.ts'
import type { ClusterOutcome } from '../outcome.ts'
import type { ClusterFact, ClusterWrite } from './clusterWriteStatement.ts'

/** What to write, and the answer once it is written. `write` is null when nothing has to be written. */
export interface ClusterWritePlan {
  readonly write: ClusterWrite | null
  readonly outcome: ClusterOutcome
}

export function refused(refusal: Refusal): ClusterWritePlan {
  return { write: null, outcome: { kind: 'refused', refusal } }
}

/** Makes an event that is not about a replica. */
export function clusterEvent(
  kind: EventText['kind'],
  message: string,
  actor: string,
  hostId: EventText['hostId'] = null,
): EventText {
  return { kind, message, actor, replicaId: null, hostId, count: 1 }
}

export function factOfHost(
  hostId: HostId,
  message: string,
  actor: string,
  data: Omit<ClusterFactData, 'format'>,
): ClusterFact {
  return { kind: 'host', hostId, data: { format: 1, ...data }, event: clusterEvent('HOST', message, actor, hostId) }
}
