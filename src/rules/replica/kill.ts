import type { ServiceIntent } from '../../model/intent.ts'
import type { Outcome } from '../../model/outcome.ts'
import { isActive } from '../../model/replica.ts'
import type { Context } from '../draft/context.ts'
import type { Draft } from '../draft/draft.ts'
import { recordReplicaEvent } from '../draft/events.ts'
import { replace } from './start.ts'
import { stop } from './stop.ts'

/** Ends one replica because a user wants it. It is replaced at once, and that is not a failure (R10). */
export function kill(draft: Draft, intent: Extract<ServiceIntent, { kind: 'kill' }>, ctx: Context): Outcome {
  const row = draft.alive.get(intent.replica)
  if (row === undefined) return refused(`The replica has ended: there is nothing to kill.`)
  if (!isActive(row))
    return refused(`Replica ${row.index} of ${draft.base.name} is being stopped already: wait for its end.`)
  recordReplicaEvent(
    draft,
    row,
    null,
    `${intent.actor} killed replica ${row.index} of ${draft.base.name}.`,
    intent.actor,
  )
  stop(draft, row, 'KILLED', ctx.now)
  // A row that is on no host ends at once and leaves its quota to the replacement; any other row holds it until its end
  // is confirmed.
  replace(draft, row, row.hostId === null && row.holdsQuota, ctx)
  return { kind: 'done', changed: true }
}

function refused(message: string): Outcome {
  return { kind: 'refused', refusal: { code: 'INVALID_STATE', message, path: ['input', 'replica'] } }
}
