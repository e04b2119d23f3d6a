import type { Instant } from '../../model/id.ts'
import type { ServiceColumns } from '../../model/service.ts'
import { type Draft, deadlineFrom, isDeleting, openRollout } from '../draft/draft.ts'

type Growth = Pick<ServiceColumns, 'growingUntil' | 'grownAvailable'>

const none: Growth = { growingUntil: null, grownAvailable: 0 }

/**
 * Says whether the service grows, with `available` replicas now. It grows from the scale up of a service that was well
 * (or that grew already) until all are available, a replica that was available is lost, or no further one became
 * available for `progressDeadlineSeconds`. While a rollout is under way that tells how far it is.
 */
export function growthOf(draft: Draft, available: number, now: Instant): Growth {
  const { base, columns, grownFrom } = draft
  const { desiredReplicas, settings } = columns
  if (isDeleting(draft) || openRollout(draft) !== null || available >= desiredReplicas) return none
  const until = deadlineFrom(now, settings.progressDeadlineSeconds)
  const before = base.columns
  const isGrowing = before.growingUntil !== null && before.growingUntil > now
  const most = Math.min(isGrowing ? before.grownAvailable : before.availableReplicas, desiredReplicas)
  if (available < most) return none
  const wasWell = isGrowing || before.availableReplicas >= before.desiredReplicas
  if (grownFrom !== null && desiredReplicas > grownFrom && wasWell && base.rollout.finishedAt !== null)
    return { growingUntil: until, grownAvailable: available }
  if (!isGrowing) return none
  return available > most
    ? { growingUntil: until, grownAvailable: available }
    : { growingUntil: before.growingUntil, grownAvailable: most }
}
