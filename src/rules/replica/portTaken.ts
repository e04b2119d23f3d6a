import { portConflictsUntilFailure } from '../../model/bounds.ts'
import type { Replica } from '../../model/service.ts'
import { replicaBlocker } from '../blocker/blockerTable.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, put } from '../draft/draft.ts'
import { recordReplicaEvent } from '../draft/events.ts'
import { type End, end } from './end.ts'
import { withReadiness } from './readiness.ts'

/**
 * R13: a port of an active row could not be bound. Its ports are in quarantine on that host, and the row is placed
 * again with the quota it holds. The third time in a row it is START_FAILED.
 */
export function portTaken(draft: Draft, row: Replica, how: Omit<End, 'reason'>, ctx: Context): void {
  draft.quarantined.add(row.id)
  const conflicts = row.portConflicts + 1
  const ports = row.ports.map((port) => `${port.name} ${port.port}`).join(', ')
  if (conflicts >= portConflictsUntilFailure) {
    const message = how.message ?? `its ports (${ports}) could not be bound ${conflicts} times in a row`
    end(draft, { ...row, portConflicts: conflicts }, { ...how, reason: 'START_FAILED', message }, ctx)
    return
  }
  recordReplicaEvent(
    draft,
    row,
    `Replica ${row.index} of ${draft.base.name} could not bind its ports (${ports}): they are in quarantine there and it is placed again.`,
  )
  const released: Replica = {
    ...row,
    state: 'PENDING',
    hostId: null,
    hostAddresses: [],
    ports: [],
    reportedReady: false,
    hostReachable: true,
    start: 1,
    startedAt: null,
    portConflicts: conflicts,
    avoidHostId: row.hostId,
    blocker: replicaBlocker(draft, row, 'QUEUED', ctx.now),
  }
  put(draft, withReadiness(released, draft.columns.settings.minReadySeconds, ctx.now))
  draft.wakesPlacement = true
}
