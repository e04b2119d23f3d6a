import { troubledMinReadySeconds } from '../../model/bounds.ts'
import type { Replica } from '../../model/service.ts'
import { type Draft, targetOf } from './draft.ts'

/**
 * R9: how many seconds a replica must have been ready to be available. Once a replica of the target's content has
 * failed or was restarted in place, they are at least 10 until the rollout and its watch are over, because a release
 * that dies soon after it is ready must not roll on.
 */
export function minReadySecondsOf(draft: Draft, { contentNumber }: Pick<Replica, 'contentNumber'>): number {
  const { minReadySeconds } = draft.columns.settings
  const { troubledAt, finishedAt, watchUntil } = draft.rollout
  const isOver = finishedAt !== null && watchUntil === null
  if (troubledAt === null || isOver || contentNumber !== targetOf(draft).contentNumber) return minReadySeconds
  return Math.max(minReadySeconds, troubledMinReadySeconds)
}
