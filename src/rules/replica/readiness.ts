import type { Instant } from '../../model/id.ts'
import type { Replica } from '../../model/service.ts'

/** R9: the last report of this start says ready, the worker is reachable, and the replica is not stopping. */
export function isEffectivelyReady(row: Pick<Replica, 'state' | 'reportedReady' | 'hostReachable'>): boolean {
  return row.reportedReady && row.hostReachable && row.state === 'RUNNING'
}

/** R9: when a ready replica has been ready for long enough. */
export function availableFrom(readySince: Instant, minReadySeconds: number): Instant {
  return readySince + minReadySeconds * 1000
}

/**
 * R9: sets ready and available as they follow from what is known of the row now. Returns the same row when nothing
 * changes.
 */
export function withReadiness(row: Replica, minReadySeconds: number, now: Instant): Replica {
  if (!isEffectivelyReady(row)) {
    if (!row.ready && !row.available && row.readySince === null && row.availableSince === null) return row
    return { ...row, ready: false, readySince: null, available: false, availableSince: null }
  }
  if (row.ready && row.available) return row
  const readySince = row.ready && row.readySince !== null ? row.readySince : now
  const available = availableFrom(readySince, minReadySeconds) <= now
  if (row.ready && !available) return row
  // The replica is ready, so whatever kept it from binding its ports is over (R13).
  return { ...row, ready: true, readySince, available, availableSince: available ? now : null, portConflicts: 0 }
}
