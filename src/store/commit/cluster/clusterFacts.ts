import type { CatalogueFactData, EventText } from '../../../model/fact.ts'
import type { HostId } from '../../../model/id.ts'
import type { Refusal } from '../../../model/refusal.ts'
import type { CatalogueOutcome } from '../outcome.ts'
import type { CatalogueFact, CatalogueWrite } from './clusterWriteStatement.ts'

/** What to write, and the answer once it is written. `write` null: it says what is so already. */
export interface CataloguePlan {
  readonly write: CatalogueWrite | null
  readonly outcome: CatalogueOutcome
}

export function refused(refusal: Refusal): CataloguePlan {
  return { write: null, outcome: { kind: 'refused', refusal } }
}

/** An event that is about no replica. */
export function said(
  kind: EventText['kind'],
  message: string,
  actor: string,
  hostId: EventText['hostId'] = null,
): EventText {
  return { kind, message, actor, replicaId: null, hostId }
}

export function factOfHost(
  hostId: HostId,
  message: string,
  actor: string,
  data: Omit<CatalogueFactData, 'format'>,
): CatalogueFact {
  return { kind: 'host', hostId, data: { format: 1, ...data }, event: said('HOST', message, actor, hostId) }
}
