import type { ReplicaId } from '../../model/id.ts'
import type { Replica } from '../../model/service.ts'
import type { Draft } from './draft.ts'

/** A replica's row before and after the commit; `before` is null where the commit created it. */
export interface RowChange {
  readonly before: Replica | null
  readonly after: Replica
}

/** Returns the rows that the draft changed, in the order of their ids. */
export function rowChangesOf(draft: Draft): RowChange[] {
  const changes: RowChange[] = []
  for (const after of draft.touched.values()) {
    const before = draft.base.replicas.get(after.id) ?? null
    if (before === null || !sameRow(before, after)) changes.push({ before, after })
  }
  return changes.sort((a, b) => compareIds(a.after.id, b.after.id))
}

export function compareIds(a: ReplicaId, b: ReplicaId): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Compares by identity, because lists and blockers are never changed in place. */
function sameRow(a: Replica, b: Replica): boolean {
  for (const column of Object.keys(a) as (keyof Replica)[]) if (a[column] !== b[column]) return false
  return true
}
