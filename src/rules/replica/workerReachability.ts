import type { WorkerId } from '../../model/id.ts'
import type { Reporter } from '../../model/intent.ts'
import { type CommitOutcome, unfinished } from '../../model/outcome.ts'
import { isOfReporter, isOn } from '../../model/replica.ts'
import type { Replica } from '../../model/service.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, hasRoom, hostOf, isFull, put } from '../draft/draft.ts'
import { recordSharedEvent } from '../draft/events.ts'
import { minReadySecondsOf } from '../draft/minReady.ts'
import { withReadiness } from './readiness.ts'

/**
 * R9, R15: the worker's lease is over. Its replicas may still run, but they count as not ready, so their addresses
 * leave with this commit.
 */
export function unreach(draft: Draft, worker: WorkerId, ctx: Context): CommitOutcome {
  draft.workerPreconditions.push({ workerId: worker, reachability: 'UNREACHABLE', draining: null })
  let changed = false
  for (const row of [...draft.alive.rows]) {
    if (!isOn(row, worker) || !row.hostReachable) continue
    if (!hasRoom(draft, row.id)) return unfinished
    put(draft, withReadiness({ ...row, hostReachable: false }, minReadySecondsOf(draft, row), ctx.now))
    const predicate = `can't be reached: ${workerOn(draft, row)} is silent`
    recordSharedEvent(draft, row, 'unreachable', predicate, predicate)
    changed = true
  }
  return { kind: 'done', changed }
}

/**
 * R15: the worker has reported everything, so its last reports of its replicas count again, and their addresses return
 * with this commit. A replica that the commit had no room to end does not return with it, because then there is no room
 * for any other either.
 */
export function reachAgain(draft: Draft, reporter: Reporter, ctx: Context): CommitOutcome {
  draft.workerPreconditions.push({ workerId: reporter.workerId, reachability: 'REACHABLE', draining: null })
  let changed = false
  let isCut = false
  for (const row of [...draft.alive.rows]) {
    if (!isOfReporter(row, reporter) || row.hostReachable) continue
    if (isFull(draft) && !draft.touched.has(row.id)) {
      isCut = true
      continue
    }
    put(draft, withReadiness({ ...row, hostReachable: true }, minReadySecondsOf(draft, row), ctx.now))
    const predicate = `can be reached again: ${workerOn(draft, row)} is back`
    recordSharedEvent(draft, row, 'reachable', predicate, predicate)
    changed = true
  }
  return isCut ? unfinished : { kind: 'done', changed }
}

/** Names the worker by its host: "the worker on host n7". */
export function workerOn(draft: Draft, row: Pick<Replica, 'hostId'>): string {
  return `the worker on host ${hostOf(draft, row.hostId)?.name ?? 'unknown'}`
}
