import type { Blocker } from '../../model/blocker.ts'
import { counted } from '../../model/counted.ts'
import type { Grant } from '../../model/host.ts'
import type { Outcome } from '../../model/outcome.ts'
import type { Replica } from '../../model/service.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, hasRoom, isDeleting, put } from '../draft/draft.ts'
import { recordSharedEvent } from '../draft/events.ts'

/**
 * Carries out placement's decision: each grant gives a waiting row a worker, ports on its host and quota at once. A
 * grant whose row no longer waits is ignored. Grants past the row cap are left to the next placement, because the first
 * ones have changed the rooms that they were decided on.
 */
export function grant(draft: Draft, grants: readonly Grant[], ctx: Context): Outcome {
  if (isDeleting(draft)) return { kind: 'done', changed: false }
  let changed = false
  for (const given of grants) {
    const row = draft.alive.get(given.replicaId)
    if (row === undefined || row.state !== 'PENDING') continue
    // The row must be one that waited before this commit: neither created nor released by it, because a row moves from
    // host to host in two commits.
    if (draft.base.replicas.get(row.id)?.hostId !== null) continue
    if (!hasRoom(draft, row.id)) {
      draft.wakesPlacement = true
      break
    }
    const sameWorker = row.workerId === given.workerId
    const placed = {
      ...row,
      state: 'STARTING' as const,
      hostId: given.hostId,
      workerId: given.workerId,
      hostAddresses: given.hostAddresses,
      ports: given.ports,
      holdsQuota: true,
      hostReachable: true,
      blocker: given.busyRange === null ? null : busyRangeBlocker(row, given.busyRange, ctx),
      notBefore: null,
      // Another worker counts its own epochs; old reports of the same worker must stay old.
      reportedEpoch: sameWorker ? row.reportedEpoch : 0,
      reportedSequence: sameWorker ? row.reportedSequence : 0,
    }
    put(draft, placed)
    draft.hosts.set(given.hostId, { id: given.hostId, name: given.hostName })
    draft.granted.set(given.hostId, { allocation: given.allocation, lastPort: given.lastPort })
    recordSharedEvent(
      draft,
      placed,
      'placed',
      `is placed on host ${given.hostName}`,
      `are placed on host ${given.hostName}`,
    )
    changed = true
  }
  return { kind: 'done', changed }
}

/** R13: the replica is placed, but its ports were in use so often that somebody should know. */
function busyRangeBlocker(row: Replica, busyRange: string, ctx: Context): Blocker {
  const since = row.blocker?.reason === 'NO_PORT' ? row.blocker.since : ctx.now
  const message = `Its ports were in use ${counted(row.portConflicts, 'time')} in a row. ${busyRange}`
  return { reason: 'NO_PORT', message, count: 1, since, until: null, replica: row.id }
}
