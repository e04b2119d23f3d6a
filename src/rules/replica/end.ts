import type { EndReason } from '../../generated/prisma/enums.ts'
import { clauseOf } from '../../model/clause.ts'
import type { Instant } from '../../model/id.ts'
import type { ReplicaReport } from '../../model/intent.ts'
import { isActive } from '../../model/replica.ts'
import type { Replica } from '../../model/service.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, hostOf, isDeleting, put } from '../draft/draft.ts'
import { recordReplicaEvent } from '../draft/events.ts'
import { keyOf } from '../draft/slot.ts'
import { recordStopped } from '../draft/stopEvents.ts'
import { backoffSeconds, type Failure, rememberFailure } from './backoff.ts'
import { isTooSoon, tooSoonClause } from './completion.ts'
import { replace } from './start.ts'
import { rememberTrouble } from './trouble.ts'

/** How a replica ended, according to its worker or the rules. */
export type End = Pick<ReplicaReport, 'exitCode' | 'exitSignal' | 'message'> & { readonly reason: EndReason }

const failures: ReadonlySet<EndReason> = new Set<EndReason>(['EXITED', 'GAVE_UP', 'START_FAILED'])

/**
 * A placed row has ended, and its host, ports and quota are free. A row that was stopping ends for the reason it was
 * stopped for. Any other row is replaced in the same commit. Its failure is remembered, and one that has done its work
 * lets the failures of its slot be forgotten (R10).
 */
export function end(draft: Draft, row: Replica, how: End, ctx: Context): void {
  const wasActive = isActive(row)
  const reason = wasActive ? how.reason : (row.stopReason ?? how.reason)
  const ended = endedRow(row, { ...how, reason }, ctx.now)
  put(draft, ended)
  if (!wasActive) {
    recordStopped(draft, ended, reason)
    return
  }
  const forgets = reason === 'COMPLETED' && !isTooSoon(row, ctx.now) && draft.slots.delete(keyOf(row))
  const failed =
    !isDeleting(draft) &&
    isFailure(row, reason, ctx.now) &&
    rememberFailure(draft, row, failureOf(row, how, ctx.now), ctx)
  if (failed) rememberTrouble(draft, row, ctx.now, draft.slots.get(keyOf(row))?.retryAt)
  const next = failed ? waitSentence(draft, row) : forgets ? ' Its failures are forgotten.' : ''
  recordReplicaEvent(draft, ended, endCause(how), `${endSentence(draft, row, how, ctx.now)}${next}`)
  replace(draft, row, row.holdsQuota, ctx)
}

/** R10: an end of a replica that nobody stopped, and that speaks against it. */
function isFailure(row: Replica, reason: EndReason, now: Instant): boolean {
  return failures.has(reason) || (reason === 'COMPLETED' && isTooSoon(row, now))
}

/** What its slot remembers of a failure. */
function failureOf(row: Replica, how: End, now: Instant): Failure {
  const { reason } = how
  const message = reason === 'COMPLETED' ? `it ${tooSoonClause(row, now)}` : (how.message ?? exitWords(how))
  return { reason, message }
}

/** Makes the row of a replica that has ended. */
export function endedRow(row: Replica, how: End, now: Instant): Replica {
  return {
    ...row,
    state: 'ENDED',
    ready: false,
    readySince: null,
    available: false,
    availableSince: null,
    reportedReady: false,
    holdsQuota: false,
    blocker: null,
    notBefore: null,
    endReason: how.reason,
    exitCode: how.exitCode,
    exitSignal: how.exitSignal,
    endMessage: how.message,
    endedAt: now,
  }
}

/** Ends of one reason, exit code and signal are the same happening, whatever the worker says of each. */
function endCause({ reason, exitCode, exitSignal }: End): string {
  return `ended ${reason} ${exitSignal ?? exitCode ?? ''}`
}

/** Returns null when there is no exit status, or when it was not seen. */
function exitWords({ exitSignal, exitCode }: End): string | null {
  if (exitSignal !== null) return `signal ${exitSignal}`
  return exitCode === null ? null : `exit code ${exitCode}`
}

function endSentence(draft: Draft, row: Replica, how: End, now: Instant): string {
  const where = `Replica ${row.index} of ${draft.base.name} on host ${hostOf(draft, row.hostId)?.name ?? 'unknown'}`
  const words = exitWords(how)
  const exit = words === null ? '' : ` ${how.exitSignal === null ? 'with' : 'by'} ${words}`
  const why = how.message === null ? '' : `: ${clauseOf(how.message)}`
  switch (how.reason) {
    case 'COMPLETED':
      return isTooSoon(row, now)
        ? `${where} ${tooSoonClause(row, now)}${why}.`
        : `${where} has completed its work${why}.`
    case 'GAVE_UP':
      return `${where} ended${exit} and its restarts in place are used up${why}.`
    case 'START_FAILED':
      return `${where} could not be started${why}.`
    case 'HOST_LOST':
      return `${where} is no longer there${why}.`
    default:
      return `${where} ended${exit}${why}.`
  }
}

function waitSentence(draft: Draft, row: Replica): string {
  const slot = draft.slots.get(keyOf(row))
  const wait = slot === undefined ? 0 : backoffSeconds(slot.failures, draft.columns.settings)
  return slot === undefined || wait === 0 ? '' : ` After ${slot.failures} failures its replacement waits ${wait} s.`
}
