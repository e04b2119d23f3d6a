import type { LeaveReason } from '../../generated/prisma/enums.ts'
import type { ServiceIntent } from '../../model/intent.ts'
import type { Outcome } from '../../model/outcome.ts'
import type { RefusalCode } from '../../model/refusal.ts'
import { isActive } from '../../model/replica.ts'
import { type Draft, hostOf, isDeleting, put } from '../draft/draft.ts'
import { recordReplicaEvent } from '../draft/events.ts'

const because: Readonly<Record<LeaveReason, string>> = {
  DRAIN: 'its worker is being drained',
  RESTART: 'the service is being restarted',
  MOVED: 'its host has moved to another address',
  REQUEUE: 'a user moves it',
}

/**
 * R15: a user moves one replica away from its host. It is leaving from now on, as in a drain, and what is started for it keeps
 * off that host.
 */
export function requeue(draft: Draft, intent: Extract<ServiceIntent, { kind: 'requeue' }>): Outcome {
  const row = draft.alive.get(intent.replica)
  if (row === undefined) return refused('INVALID_STATE', 'The replica has ended: there is nothing to move.')
  const name = `Replica ${row.index} of ${draft.base.name}`
  if (isDeleting(draft) || !isActive(row))
    return refused('INVALID_STATE', `${name} is being stopped, so it leaves its host already.`)
  if (row.hostId === null)
    return refused('INVALID_STATE', `${name} has no host that it could leave: its blocker says what it waits for.`)
  const host = hostOf(draft, row.hostId)?.name ?? 'unknown'
  if (row.leaving !== null)
    return refused('NO_CHANGE', `${name} is to be replaced already, because ${because[row.leaving]}.`)
  put(draft, { ...row, leaving: 'REQUEUE' })
  recordReplicaEvent(
    draft,
    row,
    null,
    `${intent.actor} moves replica ${row.index} of ${draft.base.name} away from host ${host}.`,
    intent.actor,
  )
  return { kind: 'done', changed: true }
}

function refused(code: Extract<RefusalCode, 'INVALID_STATE' | 'NO_CHANGE'>, message: string): Outcome {
  return { kind: 'refused', refusal: { code, message, path: ['input', 'replica'] } }
}
