import type { Instant } from '../../model/id.ts'
import type { Replica, Slot } from '../../model/service.ts'
import { replicaBlocker } from '../blocker/blockerTable.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, hasRoom, put, targetOf } from '../draft/draft.ts'
import { recordSharedEvent } from '../draft/events.ts'
import { minReadySecondsOf } from '../draft/minReady.ts'
import { keyOf, type SlotKey } from '../draft/slot.ts'
import { resetAt, waitEnd } from './backoff.ts'
import { activeOf, type Census } from './census.ts'
import { withReadiness } from './readiness.ts'

/**
 * Does what has become due by now: backoffs that are over, replicas that were ready for long enough, failures that are
 * forgotten. An instant is due when it equals now.
 */
export function passDue(draft: Draft, ctx: Context): void {
  for (const row of draft.alive.rows) {
    if (row.available) continue
    const after = afterDue(draft, row, ctx.now)
    if (after === row) continue
    if (!hasRoom(draft, row.id)) {
      draft.capped = true
      break
    }
    put(draft, after)
    if (row.state === 'PENDING') draft.wakesPlacement = true
  }
  if (draft.slots.size > 0) forgetFailures(draft, ctx)
}

/** Returns the row as it is when its due instants have passed; the same row when none has. */
function afterDue(draft: Draft, row: Replica, now: Instant): Replica {
  if (row.state === 'PENDING') {
    const until = waitEnd(row)
    const forgotten = row.notBefore !== null && !draft.slots.has(keyOf(row))
    if (!forgotten && (until === null || until > now)) return row
    const repeats = forgotten ? {} : row.repeats
    return { ...row, repeats, notBefore: null, blocker: replicaBlocker(draft, row, 'QUEUED', now) }
  }
  return row.ready && !row.available ? withReadiness(row, minReadySecondsOf(draft, row), now) : row
}

/** R10: forgets a slot's failures when its replica was available for long enough. */
function forgetFailures(draft: Draft, ctx: Context): void {
  const { settings } = draft.columns
  const forgotten = new Set<SlotKey>()
  for (const row of draft.alive.rows) {
    if (!row.available || row.availableSince === null || resetAt(row.availableSince, settings) > ctx.now) continue
    if (!draft.slots.has(keyOf(row))) continue
    forgotten.add(keyOf(row))
    recordSharedEvent(
      draft,
      row,
      null,
      'is well again: its failures are forgotten',
      'are well again: their failures are forgotten',
    )
  }
  forget(draft, (slot) => forgotten.has(keyOf(slot)))
}

/**
 * R10: the service runs other content, so the failures of the old content are forgotten once no replica of it is left.
 */
export function forgetOtherContent(draft: Draft, census: Census): void {
  if (draft.slots.size === 0 || activeOf(census.outdated) > 0) return
  const { contentNumber } = targetOf(draft)
  forget(draft, (slot) => slot.contentNumber !== contentNumber)
}

function forget(draft: Draft, test: (slot: Slot) => boolean): void {
  const kept = [...draft.slots].filter(([, slot]) => !test(slot))
  if (kept.length < draft.slots.size) draft.slots = new Map(kept)
}
