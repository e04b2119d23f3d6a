import { isActive } from '../../model/replica.ts'
import { type Draft, targetOf } from '../draft/draft.ts'
import { keyOf } from '../draft/slot.ts'
import { isCrashLooping } from './backoff.ts'

/** R10: a slot of the target's content is in CRASH_LOOP. An old version's loop is a blocker only. */
export function isTargetLooping(draft: Draft): boolean {
  if (draft.slots.size === 0) return false
  const { contentNumber } = targetOf(draft)
  for (const row of draft.alive.rows) {
    if (row.contentNumber === contentNumber && isActive(row) && isCrashLooping(draft.slots.get(keyOf(row)))) return true
  }
  return false
}
