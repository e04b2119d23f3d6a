import { rowsPerCommit } from '../model/bounds.ts'
import { isActive, isOutdated } from '../model/replica.ts'
import type { Replica } from '../model/service.ts'
import { endWait, resetAt } from './backoff.ts'
import type { Context } from './context.ts'
import { type Draft, put, targetOf } from './draft.ts'
import { note } from './note.ts'
import { withReadiness } from './readiness.ts'
import { keyOf, type SlotKey } from './slot.ts'

/** What has become due by now: backoffs that are over, replicas ready for long enough, failures that are forgotten. Compares with ≥. */
export function passDue(draft: Draft, ctx: Context): void {
  const { minReadySeconds } = draft.columns.settings
  const before = draft.alive
  for (const row of before.values()) {
    // The rest stays due: its timer brings the next commit at once.
    if (draft.touched.size >= rowsPerCommit) break
    if (row.notBefore !== null && row.notBefore <= ctx.now) endWait(draft, row, ctx.now)
    else if (row.ready && !row.available) {
      const after = withReadiness(row, minReadySeconds, ctx.now)
      if (after !== row) put(draft, after)
    }
  }
  if (draft.slots.size > 0) forgetFailures(draft, ctx)
}

/** R10: a slot's failures are forgotten when its replica was available for long enough, or when its content is gone. */
function forgetFailures(draft: Draft, ctx: Context): void {
  const { settings } = draft.columns
  const { contentNumber } = targetOf(draft)
  const forgotten = new Set<SlotKey>()
  let outdated = false
  for (const row of draft.alive.values()) {
    if (!isActive(row)) continue
    if (isOutdated(row, contentNumber)) outdated = true
    const since = availableSince(row)
    if (since === null || resetAt(since, settings) > ctx.now || !draft.slots.has(keyOf(row))) continue
    forgotten.add(keyOf(row))
    note(draft, row, 'is well again: its failures are forgotten', 'are well again: their failures are forgotten')
  }
  if (!outdated) for (const [key, slot] of draft.slots) if (slot.contentNumber !== contentNumber) forgotten.add(key)
  if (forgotten.size > 0) draft.slots = new Map([...draft.slots].filter(([key]) => !forgotten.has(key)))
}

function availableSince(row: Replica): number | null {
  return row.available ? row.availableSince : null
}
