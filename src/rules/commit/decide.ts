import type { ServiceIntent } from '../../model/intent.ts'
import type { CommitOutcome, Outcome } from '../../model/outcome.ts'
import type { Context } from '../draft/context.ts'
import type { Draft } from '../draft/draft.ts'
import { applyHostAddresses } from '../endpoint/hostAddresses.ts'
import { grant } from '../placement/grant.ts'
import { adopt, resync } from '../replica/adopt.ts'
import { resetBackoff } from '../replica/backoff.ts'
import { drain, undrain } from '../replica/drain.ts'
import { kill } from '../replica/kill.ts'
import { takeReports } from '../replica/report.ts'
import { requeue } from '../replica/requeue.ts'
import { lose } from '../replica/workerLoss.ts'
import { unreach } from '../replica/workerReachability.ts'
import { pause } from '../rollout/pause.ts'
import { restart } from '../rollout/restart.ts'
import { resume } from '../rollout/resume.ts'
import { rollback } from '../rollout/rollback.ts'
import { deleteService } from '../service/delete.ts'
import { scale } from '../service/scale.ts'
import { update } from '../service/update.ts'
import { setBlockers } from '../waiting/setBlockers.ts'

/**
 * Takes one intent into the draft. Several may follow one another; `closeDraft` settles what they start and stop
 * together. A refused intent leaves the draft as it was.
 */
export function decide(draft: Draft, intent: ServiceIntent, ctx: Context): CommitOutcome {
  draft.why = 'actor' in intent ? (intent.why ?? null) : null
  const outcome = take(draft, intent, ctx)
  // What the rules make of it afterwards is theirs.
  draft.why = null
  return outcome
}

function take(draft: Draft, intent: ServiceIntent, ctx: Context): CommitOutcome {
  switch (intent.kind) {
    case 'scale':
      return scale(draft, intent, ctx)
    case 'update':
      return update(draft, intent, ctx)
    case 'restart':
      return restart(draft, intent, ctx)
    case 'pause':
      return pause(draft, intent)
    case 'resume':
      return resume(draft, intent, ctx)
    case 'rollback':
      return rollback(draft, intent, ctx)
    case 'delete':
      return deleteService(draft, intent, ctx)
    case 'resetBackoff':
      return resetBackoff(draft, intent.actor)
    case 'kill':
      return kill(draft, intent, ctx)
    case 'requeue':
      return requeue(draft, intent)
    case 'report':
      return intent.full === true
        ? resync(draft, intent, ctx)
        : takeReports(draft, intent.reporter, intent.sequence, intent.reports, ctx)
    case 'adopt':
      return adopt(draft, intent.reporter, intent.host, intent.running, ctx)
    case 'grant':
      return grant(draft, intent.grants, ctx)
    case 'setBlockers':
      return setBlockers(draft, intent.blockers)
    case 'unreach':
      return unreach(draft, intent.worker, ctx)
    case 'lose':
      return lose(draft, intent.worker, ctx)
    case 'drain':
      return drain(draft, intent.worker)
    case 'undrain':
      return undrain(draft, intent.worker)
    case 'hostAddresses':
      return applyHostAddresses(draft, intent)
    case 'tick':
      return tick(draft, ctx)
  }
}

/** Timers are due. Every commit does what is due, so this only answers whether anything is. */
function tick(draft: Draft, ctx: Context): Outcome {
  const changed = [...draft.base.timers.values()].some((dueAt) => dueAt <= ctx.now)
  return { kind: 'done', changed }
}
