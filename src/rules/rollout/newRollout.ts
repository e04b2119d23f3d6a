import type { Instant } from '../../model/id.ts'
import type { Rollout } from '../../model/service.ts'
import type { Settings } from '../../model/settings.ts'
import { deadlineFrom } from '../draft/draft.ts'
import { resolveLimits } from './limits.ts'

/** Everything that a new rollout needs to know. */
export interface RolloutBeginning
  extends Pick<Rollout, 'id' | 'number' | 'fromVersion' | 'toVersion' | 'automatic' | 'desiredReplicas' | 'startedBy'> {
  readonly settings: Settings
  readonly paused: boolean
}

/** Begins a rollout now: nothing of it is done, and its full deadline runs unless the service is paused. */
export function newRollout({ settings, paused, ...named }: RolloutBeginning, now: Instant): Rollout {
  const { minReadySeconds, progressDeadlineSeconds } = settings
  return {
    ...named,
    state: paused ? 'PAUSED' : 'ROLLING',
    blocker: null,
    updatedReplicas: 0,
    availableReplicas: 0,
    oldReplicas: 0,
    ...resolveLimits(named.desiredReplicas, settings),
    minReadySeconds,
    progressDeadlineSeconds,
    bestAvailable: 0,
    leastOutdated: 0,
    startedAt: now,
    progressedAt: now,
    deadlineAt: paused ? null : deadlineFrom(now, progressDeadlineSeconds),
    finishedAt: null,
    troubledAt: null,
    watchUntil: null,
    repeats: { cause: null, waits: {} },
  }
}
