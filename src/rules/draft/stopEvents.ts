import type { EndReason } from '../../generated/prisma/enums.ts'
import { stopCauses } from '../../model/endMessage.ts'
import type { Replica } from '../../model/service.ts'
import type { Draft } from './draft.ts'
import { recordSharedEvent } from './events.ts'

export function recordStopping(draft: Draft, row: Replica, reason: EndReason): void {
  const why = stopCauses[reason] ?? reason
  recordSharedEvent(draft, row, null, `is being stopped: ${why}`, `are being stopped: ${why}`)
}

/** The replica's end is confirmed, or it was on no host. */
export function recordStopped(draft: Draft, row: Replica, reason: EndReason): void {
  const why = stopCauses[reason] ?? reason
  recordSharedEvent(draft, row, null, `has stopped: ${why}`, `have stopped: ${why}`)
}
