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

/** Sets the desired replicas. What that starts or stops is settled with the commit (R2, R4, R11). */
export function scale(draft: Draft, intent: Scale, ctx: Context): Outcome {
  const { replicas, actor } = intent
  const before = draft.columns.desiredReplicas
  if (isDeleting(draft)) return deleting(draft, 'it cannot be scaled')
  const objection = conflict(draft, intent.expectedRevision)
  if (objection !== null) return objection
  if (replicas > before && overQuota(replicas, intent.maxReplicas)) {
    return { kind: 'refused', refusal: quotaExceeded(draft.base.projectName, replicas, intent.maxReplicas) }
  }
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

/** More replicas than the project can ever hold. */
export function overQuota(replicas: number, maxReplicas: number | null): maxReplicas is number {
  return maxReplicas !== null && replicas > maxReplicas
}

export function quotaExceeded(projectName: string, requested: number, maxReplicas: number | null): Refusal {
  const limit = maxReplicas ?? 0
  const message = `${counted(requested, 'replica')} can never fit: project ${projectName} has room for ${limit} in all. Ask for fewer, or raise its maxReplicas.`
  return { code: 'QUOTA_EXCEEDED', message, limit, requested }
}
