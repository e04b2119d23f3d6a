import type { Blocker } from '../../model/blocker.ts'
import type { Instant } from '../../model/id.ts'
import type { Replica } from '../../model/service.ts'

/** A row that placement has not looked at yet. */
export function queued(row: Pick<Replica, 'id' | 'index'>, now: Instant): Blocker {
  return {
    reason: 'QUEUED',
    message: `Replica ${row.index} waits to be placed.`,
    count: 1,
    since: now,
    until: null,
    replica: row.id,
  }
}
