import type { TimerKind } from '../../generated/prisma/enums.ts'
import type { Instant } from '../../model/id.ts'
import { isActive } from '../../model/replica.ts'
import { type Draft, openRollout } from '../draft/draft.ts'
import { minReadySecondsOf } from '../draft/minReady.ts'
import { keyOf } from '../draft/slot.ts'
import { resetAt, waitEnd } from '../replica/backoff.ts'
import { availableFrom } from '../replica/readiness.ts'

/** Finds the earliest instant of each kind at which the service's rules must run again. */
export function timersOf(draft: Draft, now: Instant): Map<TimerKind, Instant> {
  const { settings, paused, growingUntil } = draft.columns
  const timers = new Map<TimerKind, Instant>()
  const arm = (kind: TimerKind, dueAt: Instant) => {
    const armed = timers.get(kind)
    if (armed === undefined || dueAt < armed) timers.set(kind, dueAt)
  }
  const slots = draft.slots.size > 0
  for (const row of draft.alive.rows) {
    if (row.available && !slots) continue
    if (!isActive(row)) continue
    const waitsUntil = waitEnd(row)
    if (waitsUntil !== null) arm('BACKOFF', waitsUntil)
    if (row.ready && !row.available && row.readySince !== null)
      arm('MIN_READY', availableFrom(row.readySince, minReadySecondsOf(draft, row)))
    if (row.available && row.availableSince !== null && draft.slots.has(keyOf(row))) {
      arm('BACKOFF_RESET', resetAt(row.availableSince, settings))
    }
  }
  const rollout = openRollout(draft)
  const isJudged = rollout?.state === 'ROLLING' || (rollout?.state === 'STALLED' && (rollout.deadlineAt ?? now) > now)
  if (rollout !== null && rollout.deadlineAt !== null && isJudged && !paused)
    arm('PROGRESS_DEADLINE', rollout.deadlineAt)
  if (draft.rollout.watchUntil !== null) arm('WATCH', draft.rollout.watchUntil)
  if (growingUntil !== null) arm('PROGRESS_DEADLINE', growingUntil)
  if (draft.capped) arm('CONTINUE', now)
  return timers
}
