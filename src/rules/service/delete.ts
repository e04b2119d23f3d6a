import { counted } from '../../model/counted.ts'
import type { ServiceIntent } from '../../model/intent.ts'
import type { Outcome } from '../../model/outcome.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, isDeleting, openRollout } from '../draft/draft.ts'
import { recordEvent } from '../draft/events.ts'
import { conflict, markSpec } from '../draft/specGuards.ts'
import { cutWatch } from '../rollout/watch.ts'

/**
 * Asks for the end of the service. All its replicas are stopped, and it is gone when the last one has ended. Asking
 * again while it is being deleted changes nothing.
 */
export function deleteService(draft: Draft, intent: Extract<ServiceIntent, { kind: 'delete' }>, ctx: Context): Outcome {
  if (isDeleting(draft)) return { kind: 'done', changed: false }
  const objection = conflict(draft, intent.expectedRevision)
  if (objection !== null) return objection
  draft.columns = { ...draft.columns, deletionRequestedAt: ctx.now }
  draft.slots = new Map()
  cutWatch(draft)
  const rollout = openRollout(draft)
  if (rollout !== null)
    draft.rollout = { ...rollout, state: 'CANCELLED', blocker: null, deadlineAt: null, finishedAt: ctx.now }
  const { name } = draft.base
  const rest =
    draft.alive.size === 0 ? 'it has no replicas' : `its ${counted(draft.alive.size, 'replica')} are being stopped`
  recordEvent(draft, 'SERVICE_DELETED', `${intent.actor} deleted ${name}: ${rest}.`, intent.actor)
  markSpec(draft)
  return { kind: 'done', changed: true }
}
