import type { EndReason } from '../generated/prisma/enums.ts'
import { clauseOf } from './clause.ts'
import type { Replica } from './service.ts'

/** Why replicas are stopped, as a part of a sentence; null where nobody stopped them. */
export const stopCauses = {
  COMPLETED: null,
  EXITED: null,
  GAVE_UP: null,
  START_FAILED: null,
  HOST_LOST: null,
  SCALED_DOWN: 'the service was scaled down',
  REPLACED_BY_ROLLOUT: 'another version takes its place',
  SERVICE_DELETED: 'the service is being deleted',
  DRAINED: 'its worker is being drained',
  MOVED: 'its host has moved to another address',
  REQUEUED: 'a user moved it away from its host',
  KILLED: 'killed by a user',
} as const satisfies Record<EndReason, string | null>

type Ended = Pick<Replica, 'endReason' | 'exitCode' | 'exitSignal' | 'endMessage'>

/** Says in a sentence how or why a replica ended; null while it has not. */
export function endMessageOf(row: Ended): string | null {
  const { endReason, endMessage } = row
  if (endReason === null) return null
  const stopped = stopCauses[endReason]
  if (stopped !== null) return `It was stopped: ${stopped}.`
  const clause = endMessage === null ? exitClause(row) : clauseOf(endMessage)
  return clause === null ? `${whatHappened(endReason)}.` : `${whatHappened(endReason)}: ${clause}.`
}

function whatHappened(reason: EndReason): string {
  switch (reason) {
    case 'COMPLETED':
      return 'It completed its work'
    case 'GAVE_UP':
      return 'It ended and its restarts in place are used up'
    case 'START_FAILED':
      return 'It could not be started'
    case 'HOST_LOST':
      return 'It is no longer there'
    default:
      return 'It ended'
  }
}

/** For workers that report no sentence. */
function exitClause({ exitCode, exitSignal }: Ended): string | null {
  if (exitSignal !== null) return `the process was ended by SIG${exitSignal}`
  return exitCode === null ? null : `the process exited with code ${exitCode}`
}
