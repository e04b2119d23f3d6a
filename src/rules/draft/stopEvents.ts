import type { EndReason } from '../../generated/prisma/enums.ts'
import type { Replica } from '../../model/service.ts'
import type { Draft } from './draft.ts'
import { recordSharedEvent } from './events.ts'

const because: Readonly<Partial<Record<EndReason, string>>> = {
  SCALED_DOWN: 'the service was scaled down',
  REPLACED_BY_ROLLOUT: 'another version takes its place',
  SERVICE_DELETED: 'the service is being deleted',
  DRAINED: 'its worker is being drained',
  MOVED: 'its host has moved to another address',
  KILLED: 'killed by a user',
}

export function recordStopping(draft: Draft, row: Replica, reason: EndReason): void {
  const why = because[reason] ?? reason
  recordSharedEvent(draft, row, null, `is being stopped: ${why}`, `are being stopped: ${why}`)
}

/** The replica's end is confirmed, or it was on no host. */
export function recordStopped(draft: Draft, row: Replica, reason: EndReason): void {
  const why = because[reason] ?? reason
  recordSharedEvent(draft, row, null, `has stopped: ${why}`, `have stopped: ${why}`)
}
