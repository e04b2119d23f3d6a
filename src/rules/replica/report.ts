import { clauseOf } from '../../model/clause.ts'
import type { ReplicaId } from '../../model/id.ts'
import type { ReplicaReport, Reporter } from '../../model/intent.ts'
import { isProbed } from '../../model/isProbed.ts'
import type { LastExit } from '../../model/lastProbe.ts'
import { type CommitOutcome, unfinished } from '../../model/outcome.ts'
import { isActive, isOfReporter } from '../../model/replica.ts'
import type { Replica } from '../../model/service.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, hasRoom, put, versionOf } from '../draft/draft.ts'
import { recordReplicaEvent, recordSharedEvent } from '../draft/events.ts'
import { minReadySecondsOf } from '../draft/minReady.ts'
import { failingProbe, probeText } from '../draft/probeText.ts'
import { end } from './end.ts'
import { isProbeNews, withProbe } from './lastProbe.ts'
import { portTaken, takenPortsOf } from './portTaken.ts'
import { withReadiness } from './readiness.ts'
import { rememberTrouble } from './trouble.ts'

/**
 * Takes a worker's reports of replicas, as of `sequence` within its epoch. Reports that later ones have overtaken are
 * ignored (R17).
 */
export function takeReports(
  draft: Draft,
  reporter: Reporter,
  sequence: number,
  reports: readonly ReplicaReport[],
  ctx: Context,
): CommitOutcome {
  fence(draft, reporter)
  const taken = new Set<ReplicaId>()
  let isCut = false
  for (const report of reports) {
    const row = draft.alive.get(report.replica)
    if (row === undefined || !isOfReporter(row, reporter) || !isOfPlacement(report, row)) continue
    // All reports of one row are taken in one commit, because in the next commit they would not be news.
    if (!taken.has(row.id)) {
      if (!isLater(reporter.epoch, sequence, row)) continue
      if (!hasRoom(draft, row.id, rowsOf(report))) {
        isCut = true
        continue
      }
      taken.add(row.id)
    }
    takeReport(draft, { ...row, reportedEpoch: reporter.epoch, reportedSequence: sequence }, report, ctx)
  }
  return isCut ? unfinished : { kind: 'done', changed: taken.size > 0 }
}

/** An end brings a replacement, which is a second row. */
function rowsOf({ state }: ReplicaReport): number {
  return state === 'ENDED' ? 2 : 1
}

/**
 * R13: a replica whose port was taken is placed again under the same id, perhaps on the same host. Reports of its
 * earlier placement are ignored then, for example a PORT_TAKEN that arrives twice.
 */
export function isOfPlacement({ ports }: ReplicaReport, row: Replica | undefined): boolean {
  if (row === undefined) return true
  const own = row.ports.map(({ port }) => port).sort((a, b) => a - b)
  return [...ports].sort((a, b) => a - b).join() === own.join()
}

/** The commit refuses the change if the worker has another epoch by then. */
export function fence(draft: Draft, { workerId, epoch }: Reporter): void {
  const known = draft.fences.some((other) => other.workerId === workerId && other.epoch === epoch)
  if (!known) draft.fences.push({ workerId, epoch })
}

/** A report of this epoch and sequence is newer than what is known of the row. */
export function isLater(epoch: number, sequence: number, row: Replica): boolean {
  return epoch > row.reportedEpoch || (epoch === row.reportedEpoch && sequence > row.reportedSequence)
}

/** What is known of the current start: 0 not begun, 1 starting, 2 confirmed. */
function progressOf(row: Replica): number {
  return row.startedAt !== null ? 2 : row.state === 'PENDING' ? 0 : 1
}

const progress = { STARTING: 1, RUNNING: 2, ENDED: 3 } as const

function takeReport(draft: Draft, row: Replica, report: ReplicaReport, ctx: Context): void {
  const reported = Math.max(report.start, 1)
  if (reported < row.start || (reported === row.start && progress[report.state] < progressOf(row))) return
  if (report.state === 'ENDED') {
    const lastExit = exitOf(report, reported, ctx)
    // What is known of the process is about this start only, so one that was never heard to run has not run for long.
    const startedAt = reported > row.start ? null : row.startedAt
    takeEnd(draft, { ...withProbe(row, report.probe, ctx.now), start: reported, startedAt, lastExit }, report, ctx)
    return
  }
  const current = reported > row.start ? restarted(draft, row, report, ctx) : row
  put(draft, report.state === 'RUNNING' ? running(draft, current, report, ctx) : current)
}

function takeEnd(draft: Draft, row: Replica, report: ReplicaReport, ctx: Context): void {
  const how = { exitCode: report.exitCode, exitSignal: report.exitSignal, message: report.message }
  if (report.endReason === 'PORT_TAKEN') {
    const taken = takenPortsOf(row, report)
    if (row.state !== 'STOPPING') {
      portTaken(draft, row, taken, report.message, ctx)
      return
    }
    draft.quarantined.set(row.id, taken)
  }
  // A worker that stopped what it should run has let it go. That is not a failure of the replica.
  const letGo = report.endReason === 'STOPPED' || report.endReason === 'PORT_TAKEN'
  end(draft, row, { ...how, reason: letGo ? 'HOST_LOST' : (report.endReason ?? 'EXITED') }, ctx)
}

/** The process was started again: it is not ready at first, and its addresses are other ones (R9, R12). */
function restarted(draft: Draft, row: Replica, report: ReplicaReport, ctx: Context): Replica {
  const { start, message, exitCode, exitSignal } = report
  const state = row.state === 'STOPPING' ? 'STOPPING' : 'STARTING'
  const why = message === null ? '' : `: ${clauseOf(message)}`
  const what = `restarted in place (start ${start})${why}`
  recordSharedEvent(draft, row, 'restarted', `is ${what}`, `are ${what}`)
  if (isActive(row)) rememberTrouble(draft, row, ctx.now)
  // A new start has the host's current address.
  const leaving = row.leaving === 'MOVED' ? null : row.leaving
  const isTold = message !== null || exitCode !== null || exitSignal !== null
  const lastExit = isTold ? exitOf(report, start - 1, ctx) : row.lastExit
  const fresh: Replica = {
    ...row,
    start,
    state,
    leaving,
    startedAt: null,
    reportedReady: false,
    lastProbe: null,
    lastExit,
  }
  return withReadiness(fresh, minReadySecondsOf(draft, row), ctx.now)
}

function exitOf({ exitCode, exitSignal, message }: ReplicaReport, start: number, { now }: Context): LastExit {
  return { start, code: exitCode, signal: exitSignal, at: now, message }
}

/** The process is confirmed. Without a startup or readiness probe that makes it ready (R9). */
function running(draft: Draft, row: Replica, report: ReplicaReport, ctx: Context): Replica {
  const probed = isProbed(versionOf(draft, row.versionNumber).content)
  const confirmed: Replica = {
    ...row,
    state: row.state === 'STOPPING' ? 'STOPPING' : 'RUNNING',
    startedAt: row.startedAt ?? ctx.now,
    blocker: null,
    reportedReady: report.ready || !probed,
  }
  const told = withProbe(confirmed, report.probe, ctx.now)
  const after = withReadiness(told, minReadySecondsOf(draft, row), ctx.now)
  recordHealth(draft, row, after)
  return after
}

/** Records when the replica becomes ready or stops being ready, and the first failures of its probes. */
function recordHealth(draft: Draft, before: Replica, after: Replica): void {
  const failing = failingProbe(after)
  const why = failing === null ? '' : `: ${probeText(failing)}`
  const note = after.lastProbe?.ok === true ? after.lastProbe.message : null
  // A note says what the worker could not see of the listeners on the replica's ports (R13).
  if (after.ready && !before.ready && note !== null)
    recordReplicaEvent(draft, after, 'ready', `Replica ${after.index} of ${draft.base.name} is ready. ${note}`)
  else if (after.ready && !before.ready) recordSharedEvent(draft, after, 'ready', 'is ready', 'are ready')
  else if (!after.ready && before.ready)
    recordSharedEvent(draft, after, 'unready', `is not ready any more${why}`, `are not ready any more${why}`)
  else if (failing !== null && isProbeNews(before, after)) {
    const probe = `${failing.kind.toLowerCase()} probe${why}`
    recordSharedEvent(draft, after, null, `fails its ${probe}`, `fail their ${probe}`)
  }
}
