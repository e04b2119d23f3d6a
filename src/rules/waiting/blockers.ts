import type { BlockReason } from '../../generated/prisma/enums.ts'
import type { Blocker } from '../../model/blocker.ts'
import type { Instant } from '../../model/id.ts'
import { type Draft, isDeleting, openRollout } from '../draft/draft.ts'
import { waitsOf } from './waits.ts'

/** In this order they are shown: what keeps a replica from running at all comes first. */
const order: readonly BlockReason[] = [
  'CRASH_LOOP',
  'PROGRESS_DEADLINE',
  'ROLLOUT_PAUSED',
  'QUOTA',
  'NO_HOST',
  'NO_CAPACITY',
  'NO_PORT',
  'SPREAD',
  'HOST_UNREACHABLE',
  'HOST_DRAINING',
  'NO_ADDRESS',
  'BACKOFF',
  'QUEUED',
  'WAITING_FOR_READY',
  'MIN_READY',
  'STOPPING_OLD',
]

/** Why the service is not all it should be: one per reason, with a count. */
export function blockersOf(draft: Draft, now: Instant): Blocker[] {
  const before = draft.base.columns.blockers
  const blockers = isDeleting(draft) ? new Map<BlockReason, Blocker>() : waitsOf(draft, before, now)
  const rollout = openRollout(draft)
  if (rollout?.state === 'STALLED') {
    const message = `Rollout ${rollout.number} made no progress for ${rollout.progressDeadlineSeconds} s: ${rollout.hold?.message ?? 'see its replicas.'}`
    blockers.set('PROGRESS_DEADLINE', ofService('PROGRESS_DEADLINE', message, before, now))
  }
  if (rollout !== null && draft.columns.paused) {
    const message = `Rollout ${rollout.number} is paused: resumeRollout lets it go on.`
    blockers.set('ROLLOUT_PAUSED', ofService('ROLLOUT_PAUSED', message, before, now))
  }
  if (blockers.size === 0) return []
  return order.flatMap((reason) => blockers.get(reason) ?? [])
}

function ofService(reason: BlockReason, message: string, before: readonly Blocker[], now: Instant): Blocker {
  const since = before.find((blocker) => blocker.reason === reason)?.since ?? now
  return { reason, message, count: 1, since, until: null, replica: null }
}
