import { crashLoopFailures } from '../../model/bounds.ts'
import type { Instant } from '../../model/id.ts'
import type { Outcome } from '../../model/outcome.ts'
import { isActive } from '../../model/replica.ts'
import type { Replica, Slot } from '../../model/service.ts'
import type { Settings } from '../../model/settings.ts'
import { replicaBlocker } from '../blocker/blockerTable.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, targetOf } from '../draft/draft.ts'
import { recordEvent } from '../draft/events.ts'
import { keyOf } from '../draft/slot.ts'

type BackoffSettings = Pick<Settings, 'backoffBaseSeconds' | 'backoffMaxSeconds' | 'backoffResetAfterSeconds'>

/**
 * R10: how long the replacement waits after a slot's failure number `failures`: 0, base, 2 · base, 4 · base … up to the
 * maximum.
 */
export function backoffSeconds(failures: number, settings: BackoffSettings): number {
  if (failures < 2) return 0
  return Math.min(settings.backoffMaxSeconds, settings.backoffBaseSeconds * 2 ** (failures - 2))
}

/** R10: a slot is in CRASH_LOOP from its third failure until it is reset. */
export const isCrashLooping = (slot: Pick<Slot, 'failures'> | undefined): boolean =>
  slot !== undefined && slot.failures >= crashLoopFailures

/** R10: a slot of the target's content is in CRASH_LOOP. The loop of an old version is only a blocker. */
export function isTargetLooping(draft: Draft): boolean {
  if (draft.slots.size === 0) return false
  const { contentNumber } = targetOf(draft)
  for (const row of draft.alive.rows) {
    if (row.contentNumber === contentNumber && isActive(row) && isCrashLooping(draft.slots.get(keyOf(row)))) return true
  }
  return false
}

/** R10: when the failures of a slot are forgotten if its replica stays available. */
export function resetAt(availableSince: Instant, settings: BackoffSettings): Instant {
  return availableSince + settings.backoffResetAfterSeconds * 1000
}

/** How a replica failed. */
export interface Failure {
  readonly reason: Slot['failedReason']
  readonly message: string | null
}

/**
 * R10: remembers the failure of `row`, which nobody stopped. An end after it was available for long enough is not a
 * failure. Returns whether it was one.
 */
export function rememberFailure(draft: Draft, row: Replica, how: Failure, ctx: Context): boolean {
  const { settings } = draft.columns
  const { slots } = draft
  const key = keyOf(row)
  if (row.available && row.availableSince !== null && resetAt(row.availableSince, settings) <= ctx.now) {
    slots.delete(key)
    return false
  }
  const failures = (slots.get(key)?.failures ?? 0) + 1
  slots.set(key, {
    index: row.index,
    contentNumber: row.contentNumber,
    failures,
    failedAt: ctx.now,
    retryAt: ctx.now + backoffSeconds(failures, settings) * 1000,
    failedHostId: row.hostId,
    failedReason: how.reason,
    failedMessage: how.message,
  })
  return true
}

/** Lets a new row wait for the end of its slot's backoff, or in the queue. */
export function withWait(draft: Draft, row: Replica, now: Instant): Replica {
  const slot = draft.slots.get(keyOf(row))
  if (slot === undefined || slot.retryAt <= now) return { ...row, blocker: replicaBlocker(draft, row, 'QUEUED', now) }
  const waiting = { ...row, notBefore: slot.retryAt }
  const reason = isCrashLooping(slot) ? 'CRASH_LOOP' : 'BACKOFF'
  return { ...waiting, blocker: replicaBlocker(draft, waiting, reason, slot.failedAt, slot.retryAt) }
}

/**
 * Forgets all failures. Waits whose failures are forgotten end with the commit. NO_CHANGE if there is nothing to
 * forget.
 */
export function resetBackoff(draft: Draft, actor: string): Outcome {
  if (draft.slots.size === 0) {
    const message = `No replica of service ${draft.base.name} has failed lately: there is no backoff to reset.`
    return { kind: 'refused', refusal: { code: 'NO_CHANGE', message, path: ['input', 'service'] } }
  }
  draft.slots = new Map()
  recordEvent(draft, 'SERVICE_UPDATED', `${actor} reset the backoff of ${draft.base.name}.`, actor)
  return { kind: 'done', changed: true }
}

/**
 * When a PENDING row must be looked at again: its backoff is over then, or whatever it was held for, such as a port's
 * quarantine.
 */
export function waitEnd(row: Pick<Replica, 'notBefore' | 'blocker'>): Instant | null {
  return row.notBefore ?? row.blocker?.until ?? null
}
