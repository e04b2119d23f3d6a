import { counted } from '../../model/counted.ts'
import type { ServiceIntent } from '../../model/intent.ts'
import type { Outcome } from '../../model/outcome.ts'
import type { Refusal } from '../../model/refusal.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, isDeleting } from '../draft/draft.ts'
import { recordEvent } from '../draft/events.ts'
import { conflict, deleting, markSpec } from '../draft/specGuards.ts'
import { rearm } from '../rollout/rollout.ts'

type Scale = Extract<ServiceIntent, { kind: 'scale' }>

/** Sets the desired replicas. The commit settles what that starts or stops (R2, R4, R11). */
export function scale(draft: Draft, intent: Scale, ctx: Context): Outcome {
  const { replicas, actor } = intent
  const before = draft.columns.desiredReplicas
  if (isDeleting(draft)) return deleting(draft, 'it cannot be scaled')
  const objection = conflict(draft, intent.expectedRevision)
  if (objection !== null) return objection
  const excess = replicas > before ? overLimit(draft, replicas) : null
  if (excess !== null) return { kind: 'refused', refusal: excess }
  if (replicas === before) return { kind: 'done', changed: false }
  setReplicas(draft, replicas, actor, ctx)
  markSpec(draft)
  return { kind: 'done', changed: true }
}

export function setReplicas(draft: Draft, replicas: number, actor: string, ctx: Context): void {
  const before = draft.columns.desiredReplicas
  draft.columns = { ...draft.columns, desiredReplicas: replicas }
  draft.grownFrom ??= before
  rearm(draft, ctx.now)
  recordEvent(
    draft,
    'SERVICE_SCALED',
    `${actor} scaled ${draft.base.name} from ${before} to ${counted(replicas, 'replica')}.`,
    actor,
  )
}

/**
 * QUOTA_EXCEEDED if the project can never hold so many replicas (R17). The limit was read with the service, and the
 * commit compares it with the database, so a limit that changes meanwhile is judged again.
 */
export function overLimit(draft: Draft, requested: number): Refusal | null {
  draft.comparesLimit = true
  const { maxReplicas: limit, projectName } = draft.base
  if (limit === null || requested <= limit) return null
  const message = `${counted(requested, 'replica')} can never fit: project ${projectName} has room for ${limit} in all. Ask for fewer, or raise its maxReplicas.`
  return { code: 'QUOTA_EXCEEDED', message, limit, requested }
}
