import type { WorkerId } from '../../model/id.ts'
import { type CommitOutcome, unfinished } from '../../model/outcome.ts'
import { isActive, isOn } from '../../model/replica.ts'
import type { Replica } from '../../model/service.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, hasRoom, put } from '../draft/draft.ts'
import { recordSharedEvent } from '../draft/events.ts'
import { recordStopped } from '../draft/stopEvents.ts'
import { endedRow } from './end.ts'
import { replace } from './start.ts'
import { workerOn } from './workerReachability.ts'

/**
 * R15: the worker is LOST, and so it is fenced. Everything it ran has ended. That is not a failure, so there is no
 * backoff, and the quota passes to the replacement, which has the same index. The rows give back CPU and memory,
 * because a LOST worker gets nothing until it comes back clean. Its host keeps their ports until then, because another
 * worker there could be given them.
 */
export function lose(draft: Draft, worker: WorkerId, ctx: Context): CommitOutcome {
  draft.workerPreconditions.push({ workerId: worker, reachability: 'LOST', draining: null })
  let changed = false
  for (const row of [...draft.alive.rows]) {
    if (!isOn(row, worker)) continue
    // There must be room for a row and its replacement.
    if (!hasRoom(draft, row.id, 2)) return unfinished
    loseRow(draft, row, ctx)
    changed = true
  }
  return { kind: 'done', changed }
}

function loseRow(draft: Draft, row: Replica, ctx: Context): void {
  const wasActive = isActive(row)
  const reason = wasActive ? 'HOST_LOST' : (row.stopReason ?? 'HOST_LOST')
  const ended = endedRow(row, { reason, exitCode: null, exitSignal: null, message: 'its worker was lost' }, ctx.now)
  put(draft, ended)
  draft.lost.add(row.id)
  if (!wasActive) {
    recordStopped(draft, ended, reason)
    return
  }
  const worker = workerOn(draft, row)
  recordSharedEvent(draft, ended, 'lost', `is lost with ${worker} and replaced`, `are lost with ${worker} and replaced`)
  replace(draft, row, row.holdsQuota, ctx)
}
