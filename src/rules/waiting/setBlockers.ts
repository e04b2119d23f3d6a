import { type Blocker, sameBlocker } from '../../model/blocker.ts'
import type { ReplicaId } from '../../model/id.ts'
import { type CommitOutcome, unfinished } from '../../model/outcome.ts'
import { type Draft, hasRoom, isCreatedHere, put } from '../draft/draft.ts'

/** Notes why placement could not place these replicas. */
export function setBlockers(
  draft: Draft,
  blockers: readonly { readonly replica: ReplicaId; readonly blocker: Blocker }[],
): CommitOutcome {
  let changed = false
  for (const { replica, blocker } of blockers) {
    const row = draft.alive.get(replica)
    if (row === undefined || row.state !== 'PENDING' || row.notBefore !== null || isCreatedHere(draft, row.id)) continue
    const since = row.blocker?.reason === blocker.reason ? row.blocker.since : blocker.since
    const own: Blocker = { ...blocker, count: 1, since, replica: row.id }
    if (row.blocker !== null && sameBlocker(row.blocker, own)) continue
    if (!hasRoom(draft, row.id)) return unfinished
    put(draft, { ...row, blocker: own })
    changed = true
  }
  return { kind: 'done', changed }
}
