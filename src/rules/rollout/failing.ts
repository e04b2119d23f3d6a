import { isActive, isOutdated, isPlaced } from '../../model/replica.ts'
import type { Replica } from '../../model/service.ts'
import { type Draft, targetOf } from '../draft/draft.ts'
import { keyOf } from '../draft/slot.ts'
import { isCrashLooping } from '../replica/backoff.ts'

/**
 * Whether a replica of the target speaks against the release (R6, R8): it is not available although it is placed, and
 * it has failed, was restarted in place, or was given the whole deadline. One that waits for its backoff has failed; one
 * that waits for quota or a place says nothing of the release.
 */
export function isFailing(draft: Draft, row: Replica, stalled: boolean): boolean {
  if (row.available || !isActive(row) || isOutdated(row, targetOf(draft).contentNumber)) return false
  const slot = draft.slots.get(keyOf(row))
  if (!isPlaced(row)) return row.notBefore !== null || isCrashLooping(slot)
  return stalled || row.start > 1 || slot !== undefined
}

export function hasFailing(draft: Draft, stalled: boolean): boolean {
  return draft.alive.rows.some((row) => isFailing(draft, row, stalled))
}
