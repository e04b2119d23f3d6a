import type { ReplicaReport, Reporter } from '../model/intent.ts'
import type { Outcome } from '../model/outcome.ts'
import type { HostView, Replica } from '../model/service.ts'
import type { Context } from './context.ts'
import type { Draft } from './draft.ts'
import { end } from './end.ts'
import { sameHost } from './hostView.ts'
import { fence, report } from './report.ts'

/**
 * R15: a worker has registered. What it still runs counts as full reports at sequence 0 of its new epoch. What it should run and no longer
 * has is HOST_LOST, which is no failure; but what it was never heard to have started stays assigned: it starts it now.
 */
export function adopt(draft: Draft, reporter: Reporter, host: HostView, running: readonly ReplicaReport[], ctx: Context): Outcome {
  fence(draft, reporter)
  draft.hosts.set(host.id, host)
  const had = new Set(running.map((said) => said.replica))
  const gone = draft.alive.rows.filter((row) => isGone(row, reporter) && !had.has(row.id))
  const taken = report(draft, reporter, 0, running, ctx)
  for (const row of gone) {
    const lost = { ...row, reportedEpoch: reporter.epoch, reportedSequence: 0 }
    const message = 'its worker came back without it'
    end(draft, lost, { reason: 'HOST_LOST', exitCode: null, exitSignal: null, message }, ctx)
  }
  return taken.kind === 'done' ? { kind: 'done', changed: taken.changed || gone.length > 0 || hostChanged(draft, host) } : taken
}

function isGone(row: Replica, reporter: Reporter): boolean {
  if (row.hostId !== reporter.hostId || row.reportedEpoch >= reporter.epoch) return false
  return !(row.state === 'STARTING' && row.startedAt === null && row.start === 1)
}

function hostChanged(draft: Draft, host: HostView): boolean {
  const before = draft.base.hosts.get(host.id)
  return before !== undefined && !sameHost(before, host)
}
