import type { Instant } from '../../model/id.ts'
import type { Replica } from '../../model/service.ts'
import { type Draft, targetOf, watchFrom } from '../draft/draft.ts'

/**
 * R6, R9: remembers that a replica failed or was restarted in place, if it has the target's content and its rollout is
 * unfinished or watched. A watch begins again. Trouble of a service whose rollout is over is nothing that a release did.
 */
export function rememberTrouble(draft: Draft, { contentNumber }: Pick<Replica, 'contentNumber'>, now: Instant): void {
  const { rollout } = draft
  const { finishedAt, watchUntil } = rollout
  if (contentNumber !== targetOf(draft).contentNumber) return
  if (finishedAt === null) draft.rollout = { ...rollout, troubledAt: now }
  else if (watchUntil !== null && watchUntil > now)
    draft.rollout = { ...rollout, troubledAt: now, watchUntil: watchFrom(now, draft.columns.settings) }
}
