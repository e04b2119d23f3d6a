import { counted } from '../../model/counted.ts'
import type { Instant } from '../../model/id.ts'
import { countRepeat, isTold, otherCauses } from '../../model/repeats.ts'
import type { Rollout } from '../../model/service.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, deadlineFrom, openRollout } from '../draft/draft.ts'
import { controller, recordEvent } from '../draft/events.ts'
import { repeatSentence } from '../draft/repeats.ts'
import { activeOf, type Census } from '../replica/census.ts'
import { hasFailing } from './failing.ts'
import { resolveLimits } from './limits.ts'
import { rolloutBlockerOf, waitCauseOf } from './rolloutBlocker.ts'
import { beginWatch } from './watch.ts'

/** R8: after a scale, new limits or a new target, arms the full deadline and lets both marks start over. */
export function rearm(draft: Draft, now: Instant): void {
  const rollout = openRollout(draft)
  if (rollout === null) return
  const { desiredReplicas, settings, paused } = draft.columns
  const { minReadySeconds, progressDeadlineSeconds } = settings
  draft.rearmed = true
  draft.rollout = {
    ...rollout,
    ...resolveLimits(desiredReplicas, settings),
    minReadySeconds,
    progressDeadlineSeconds,
    state: rollout.state === 'STALLED' ? 'ROLLING' : rollout.state,
    desiredReplicas,
    repeats: { ...rollout.repeats, waits: {} },
    deadlineAt: paused ? null : deadlineFrom(now, progressDeadlineSeconds),
  }
}

/**
 * Brings the rollout up to date with this commit: its counts, its marks and deadline (R8), what it waits for, and
 * whether it is complete (R5).
 */
export function stepRollout(draft: Draft, census: Census, ctx: Context): void {
  const rollout = openRollout(draft)
  if (rollout === null) return
  const counts = {
    updatedReplicas: activeOf(census.updated),
    availableReplicas: census.updated.available,
    oldReplicas: activeOf(census.outdated),
  }
  const { desiredReplicas, restartNumber } = draft.columns
  if (counts.oldReplicas === 0 && counts.availableReplicas >= desiredReplicas && restartNumber === null) {
    draft.rollout = { ...rollout, ...counts, state: 'COMPLETED', blocker: null, deadlineAt: null, finishedAt: ctx.now }
    draft.columns = { ...draft.columns, paused: false }
    beginWatch(draft, ctx.now)
    const replicas = counted(counts.availableReplicas, 'replica')
    const are = counts.availableReplicas === 1 ? 'is' : 'are'
    recordEvent(
      draft,
      'ROLLOUT',
      `Rollout ${rollout.number} of ${draft.base.name} to version ${rollout.toVersion} is complete: ${replicas} ${are} available.`,
    )
    return
  }
  const stepped = marked(draft, { ...rollout, ...counts }, ctx.now)
  const blocker = rolloutBlockerOf(draft, stepped, ctx.now)
  const cause = waitCauseOf(draft, stepped, blocker)
  const before = draft.base.rollout
  const isSame = before.number === rollout.number && before.repeats.cause === cause
  const repeat = isSame && hasWaited(stepped, cause) ? null : countRepeat(stepped.repeats.waits, cause)
  draft.rollout = { ...stepped, blocker, repeats: repeat === null ? stepped.repeats : { cause, waits: repeat.repeats } }
  if (stepped.state === 'STALLED' && rollout.state !== 'STALLED') {
    const why = blocker === null ? '' : ` ${blocker.message}`
    recordEvent(
      draft,
      'ROLLOUT',
      `Rollout ${rollout.number} of ${draft.base.name} has made no progress for ${rollout.progressDeadlineSeconds} s.${why}`,
    )
    return
  }
  const sentence = progressSentence(draft.base.name, draft.rollout)
  if (sentence === null || sentence === progressSentence(draft.base.name, before)) return
  if (repeat === null || !isTold(repeat.count)) return
  recordEvent(draft, 'ROLLOUT', `${sentence}${repeatSentence(repeat.cause, repeat.count)}`, controller, repeat.count)
}

/** The rollout has waited for that cause since its last progress. */
function hasWaited(rollout: Rollout, cause: string): boolean {
  return Object.hasOwn(rollout.repeats.waits, cause) || Object.hasOwn(rollout.repeats.waits, otherCauses)
}

/**
 * R8: progress is a new high of available new replicas or a new low of outdated ones, so that flapping cannot extend
 * the deadline.
 */
function marked(draft: Draft, rollout: Rollout, now: Instant): Rollout {
  const { availableReplicas, oldReplicas } = rollout
  if (draft.rearmed) return { ...rollout, bestAvailable: availableReplicas, leastOutdated: oldReplicas }
  if (availableReplicas > rollout.bestAvailable || oldReplicas < rollout.leastOutdated) {
    return {
      ...rollout,
      state: rollout.state === 'STALLED' ? 'ROLLING' : rollout.state,
      bestAvailable: Math.max(availableReplicas, rollout.bestAvailable),
      leastOutdated: Math.min(oldReplicas, rollout.leastOutdated),
      progressedAt: now,
      repeats: { ...rollout.repeats, waits: {} },
      deadlineAt: draft.columns.paused ? null : deadlineFrom(now, rollout.progressDeadlineSeconds),
    }
  }
  if (rollout.state === 'STALLED') return { ...rollout, deadlineAt: deadlineOfStalled(draft, rollout, now) }
  const late = rollout.state === 'ROLLING' && rollout.deadlineAt !== null && rollout.deadlineAt <= now
  return late
    ? { ...rollout, state: 'STALLED', deadlineAt: hasFailing(draft, true) ? rollout.deadlineAt : null }
    : rollout
}

/**
 * A rollout that stalled because nothing of it found a place has no deadline until something has. From then on the
 * release gets the full time to show what it is.
 */
function deadlineOfStalled(
  draft: Draft,
  { deadlineAt, progressDeadlineSeconds }: Rollout,
  now: Instant,
): Instant | null {
  if (!hasFailing(draft, true)) return null
  return deadlineAt ?? deadlineFrom(now, progressDeadlineSeconds)
}

/**
 * Says in one sentence how far an unfinished rollout is: "web: rolling 3 → 4, 2 of 6 updated, waiting for web[4] to
 * become ready." It is null for a finished rollout, and for the creation, whose replicas have events of their own.
 */
function progressSentence(service: string, rollout: Rollout): string | null {
  const { number, fromVersion, toVersion, state, updatedReplicas, desiredReplicas, blocker, finishedAt } = rollout
  if (number === 1 || finishedAt !== null) return null
  const move = fromVersion === null ? `to ${toVersion}` : `${fromVersion} → ${toVersion}`
  const progress = `${service}: ${state === 'PAUSED' ? 'paused' : 'rolling'} ${move}, ${updatedReplicas} of ${desiredReplicas} updated`
  return blocker === null || state === 'PAUSED' ? `${progress}.` : `${progress}, ${uncapitalised(blocker.message)}`
}

function uncapitalised(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1)
}
