import type { Instant } from '../../model/id.ts'
import type { Replica } from '../../model/service.ts'
import { type Draft, targetOf, watchFrom } from '../draft/draft.ts'

/**
 * R6, R9: remembers that a replica failed or was restarted in place, if it has the target's content and its rollout is
 * unfinished or watched. A watch begins again at `retryAt`, because a replica that waits for its backoff shows nothing.
 * Trouble of a service whose rollout is over is nothing that a release did.
 */
export function rememberTrouble(
  draft: Draft,
  { contentNumber }: Pick<Replica, 'contentNumber'>,
  now: Instant,
  retryAt: Instant = now,
): void {
  const { rollout } = draft
  const { finishedAt, watchUntil } = rollout
  if (contentNumber !== targetOf(draft).contentNumber) return
  if (finishedAt === null) draft.rollout = { ...rollout, troubledAt: now }
  else if (watchUntil !== null && watchUntil > now) {
    const until = Math.max(watchUntil, watchFrom(retryAt, draft.columns.settings))
    draft.rollout = { ...rollout, troubledAt: now, watchUntil: until }
  }
}
