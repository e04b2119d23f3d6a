import type { ReplicaReport, Reporter, ReportIntent } from '../../model/intent.ts'
import { type CommitOutcome, unfinished } from '../../model/outcome.ts'
import { isOfReporter } from '../../model/replica.ts'
import type { HostView, Replica } from '../../model/service.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, hasRoom } from '../draft/draft.ts'
import { setHostAddresses } from '../endpoint/hostAddresses.ts'
import { end } from './end.ts'
import { fence, isLater, isOfPlacement, takeReports } from './report.ts'
import { reachAgain } from './workerReachability.ts'

/**
 * R15: a worker has registered. What it still runs counts as full reports at sequence 0 of its new epoch. What it
 * should run and no longer has ends HOST_LOST, which is not a failure. But what it was never heard to have started
 * stays assigned, because it starts that now.
 */
export function adopt(
  draft: Draft,
  reporter: Reporter,
  host: HostView,
  running: readonly ReplicaReport[],
  ctx: Context,
): CommitOutcome {
  fence(draft, reporter)
  const taken = takeFullReport(
    draft,
    { reporter, sequence: 0, reports: running },
    'its worker came back without it',
    ctx,
  )
  const moved = setHostAddresses(draft, host)
  if (taken.kind !== 'done' || moved.kind !== 'done') return unfinished
  return { kind: 'done', changed: taken.changed || moved.changed }
}

/** R15: a worker that was silent for a while has reported everything, within its epoch. */
export function resync(draft: Draft, report: Omit<ReportIntent, 'kind' | 'full'>, ctx: Context): CommitOutcome {
  fence(draft, report.reporter)
  return takeFullReport(draft, report, 'its worker no longer has it', ctx)
}

/**
 * Takes the reports of everything a worker has: it is reachable, and what is missing is gone. A replica is gone, too,
 * if its starts are counted from 1 again or if it has other ports: the worker had let it go and started it again for an
 * older database, such as a restored backup.
 */
function takeFullReport(
  draft: Draft,
  { reporter, sequence, reports }: Pick<ReportIntent, 'reporter' | 'sequence' | 'reports'>,
  without: string,
  ctx: Context,
): CommitOutcome {
  const own = reports.filter((report) => isOfPlacement(report, draft.alive.get(report.replica)))
  const starts = new Map(own.map((report) => [report.replica, Math.max(report.start, 1)]))
  const gone = draft.alive.rows.filter(
    (row) => isGone(row, reporter, sequence) && (starts.get(row.id) ?? 0) < row.start,
  )
  const taken = takeReports(draft, reporter, sequence, reports, ctx)
  const ended = gone.filter((row) => {
    if (!hasRoom(draft, row.id, 2)) return false
    const lost = { ...row, reportedEpoch: reporter.epoch, reportedSequence: sequence }
    end(draft, lost, { reason: 'HOST_LOST', exitCode: null, exitSignal: null, message: without }, ctx)
    return true
  })
  const returned = reachAgain(draft, reporter, ctx)
  if (taken.kind !== 'done' || returned.kind !== 'done' || ended.length < gone.length) return unfinished
  return { kind: 'done', changed: taken.changed || ended.length > 0 || returned.changed }
}

function isGone(row: Replica, reporter: Reporter, sequence: number): boolean {
  if (!isOfReporter(row, reporter) || !isLater(reporter.epoch, sequence, row)) return false
  return !(row.state === 'STARTING' && row.startedAt === null && row.start === 1)
}
