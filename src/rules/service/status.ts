import type { ServiceStatus } from '../../generated/prisma/enums.ts'
import type { Rollout, ServiceColumns } from '../../model/service.ts'

/** Everything that a status follows from. */
export interface StatusSource {
  readonly columns: Pick<
    ServiceColumns,
    'deletionRequestedAt' | 'paused' | 'desiredReplicas' | 'availableReplicas' | 'growingUntil'
  >
  /** A slot of the target's content is in CRASH_LOOP (R10). */
  readonly crashLoop: boolean
  readonly rollout: Pick<Rollout, 'state' | 'finishedAt'>
}

/** The first status that holds (src/rules/README.md, "Status"). */
export function statusOf({ columns, crashLoop, rollout }: StatusSource): ServiceStatus {
  if (columns.deletionRequestedAt !== null) return 'DELETING'
  if (crashLoop) return 'CRASH_LOOP'
  if (rollout.state === 'STALLED') return 'STALLED'
  if (columns.paused) return 'PAUSED'
  if (rollout.finishedAt === null || columns.growingUntil !== null) return 'PROGRESSING'
  if (columns.availableReplicas < columns.desiredReplicas) return 'DEGRADED'
  return columns.desiredReplicas === 0 ? 'STOPPED' : 'HEALTHY'
}
