import type { EndReason } from '../../generated/prisma/enums.ts'
import type { Instant } from '../../model/id.ts'
import type { ReplicaReport } from '../../model/intent.ts'
import { isActive } from '../../model/replica.ts'
import type { Replica } from '../../model/service.ts'
import { clauseOf } from '../draft/clause.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, hostOf, isDeleting, put } from '../draft/draft.ts'
import { recordReplicaEvent } from '../draft/events.ts'
import { keyOf } from '../draft/slot.ts'
import { recordStopped } from '../draft/stopEvents.ts'
import { backoffSeconds, rememberFailure } from './backoff.ts'
import { replace } from './start.ts'
import { rememberTrouble } from './trouble.ts'

/** How a replica ended, according to its worker or the rules. */
export type End = Pick<ReplicaReport, 'exitCode' | 'exitSignal' | 'message'> & { readonly reason: EndReason }

const failures: ReadonlySet<EndReason> = new Set<EndReason>(['EXITED', 'GAVE_UP', 'START_FAILED'])

/**
 * A placed row has ended, and its host, ports and quota are free. A row that was stopping ends for the reason it was
 * stopped for. Any other row is replaced in the same commit, and its failure is remembered (R10).
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
  const failed =
    failures.has(reason) &&
    !isDeleting(draft) &&
    rememberFailure(draft, row, { reason, message: how.message ?? exitWords(how) }, ctx)
  if (failed) rememberTrouble(draft, row, ctx.now, draft.slots.get(keyOf(row))?.retryAt)
  recordReplicaEvent(
    draft,
    ended,
    endCause(how),
    `${endSentence(draft, row, how)}${failed ? waitSentence(draft, row) : ''}`,
  )
  replace(draft, row, row.holdsQuota, ctx)
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

function endSentence(draft: Draft, row: Replica, how: End): string {
  const where = `Replica ${row.index} of ${draft.base.name} on host ${hostOf(draft, row.hostId)?.name ?? 'unknown'}`
  const words = exitWords(how)
  const exit = words === null ? '' : ` ${how.exitSignal === null ? 'with' : 'by'} ${words}`
  const why = how.message === null ? '' : `: ${clauseOf(how.message)}`
  switch (how.reason) {
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
