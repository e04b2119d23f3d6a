import type { ServiceIntent } from '../model/intent.ts'
import type { CommitOutcome } from '../model/outcome.ts'
import { adopt, resync } from './adopt.ts'
import { resetBackoff } from './backoff.ts'
import type { Context } from './context.ts'
import { deleteService } from './delete.ts'
import type { Draft } from './draft.ts'
import { drain, undrain } from './drain.ts'
import { grant } from './grant.ts'
import { hold } from './hold.ts'
import { kill } from './kill.ts'
import { pause } from './pause.ts'
import { readdress } from './readdress.ts'
import { report } from './report.ts'
import { restart } from './restart.ts'
import { resume } from './resume.ts'
import { rollback } from './rollback.ts'
import { scale } from './scale.ts'
import { tick } from './tick.ts'
import { update } from './update.ts'
import { lose } from './workerLoss.ts'
import { unreach } from './workerReach.ts'

/**
 * Takes one intent into the draft. Several may follow one another; what they start and stop together is settled by `closeDraft`. A refused one
 * leaves the draft as it was.
 */
export function decide(draft: Draft, intent: ServiceIntent, ctx: Context): CommitOutcome {
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
    case 'report':
      return intent.full === true
        ? resync(draft, intent, ctx)
        : report(draft, intent.reporter, intent.sequence, intent.reports, ctx)
    case 'adopt':
      return adopt(draft, intent.reporter, intent.host, intent.running, ctx)
    case 'grant':
      return grant(draft, intent.grants)
    case 'hold':
      return hold(draft, intent.holds)
    case 'unreach':
      return unreach(draft, intent.worker, ctx)
    case 'lose':
      return lose(draft, intent.worker, ctx)
    case 'drain':
      return drain(draft, intent.worker)
    case 'undrain':
      return undrain(draft, intent.worker)
    case 'readdress':
      return readdress(draft, intent)
    case 'tick':
      return tick(draft, ctx)
  }
}
