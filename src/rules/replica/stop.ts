import type { EndReason } from '../../generated/prisma/enums.ts'
import type { Instant } from '../../model/id.ts'
import type { Replica } from '../../model/service.ts'
import { type Draft, drop, isCreatedHere, put } from '../draft/draft.ts'

/**
 * Stops an active row. Its address leaves with this commit (R12). A row on no host ends at once, and a row that this
 * commit created is not written.
 */
export function stop(draft: Draft, row: Replica, reason: EndReason, now: Instant): void {
  if (isCreatedHere(draft, row.id)) {
    drop(draft, row)
    return
  }
  const still = {
    ...row,
    ready: false,
    readySince: null,
    available: false,
    availableSince: null,
    stopReason: reason,
    stoppingAt: now,
    blocker: null,
  }
  if (row.hostId !== null) {
    put(draft, { ...still, state: 'STOPPING' })
    return
  }
  put(draft, {
    ...still,
    state: 'ENDED',
    endReason: reason,
    endedAt: now,
    holdsQuota: false,
    notBefore: null,
  })
}
