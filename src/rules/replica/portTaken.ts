import type { AllocatedPort } from '../../model/content.ts'
import type { ReplicaReport } from '../../model/intent.ts'
import type { Replica } from '../../model/service.ts'
import { replicaBlocker } from '../blocker/blockerTable.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, hostOf, put } from '../draft/draft.ts'
import { recordReplicaEvent } from '../draft/events.ts'
import { minReadySecondsOf } from '../draft/minReady.ts'
import { withReadiness } from './readiness.ts'

/** The ports that a PORT_TAKEN is about; all ports of the replica when the report names none of them. */
export function takenPortsOf({ ports }: Replica, { takenPorts }: ReplicaReport): readonly AllocatedPort[] {
  const named = ports.filter(({ name }) => takenPorts.includes(name))
  return named.length === 0 ? ports : named
}

/**
 * R13: something else uses ports of an active row. These ports are in quarantine on that host, and the row is placed
 * again with the quota it holds. However often that happens, it is not a failure: a busy range says nothing about the
 * release.
 */
export function portTaken(
  draft: Draft,
  row: Replica,
  taken: readonly AllocatedPort[],
  message: string | null,
  ctx: Context,
): void {
  draft.quarantined.set(row.id, taken)
  const portConflicts = row.portConflicts + 1
  recordReplicaEvent(draft, row, 'port taken', sentence(draft, row, taken, message))
  const released: Replica = {
    ...row,
    state: 'PENDING',
    hostId: null,
    hostAddresses: [],
    ports: [],
    reportedReady: false,
    hostReachable: true,
    start: 1,
    startedAt: null,
    lastProbe: null,
    portConflicts,
    avoidHostId: row.hostId,
    blocker: row.blocker ?? replicaBlocker(draft, row, 'QUEUED', ctx.now),
  }
  put(draft, withReadiness(released, minReadySecondsOf(draft, row), ctx.now))
  draft.wakesPlacement = true
}

function sentence(draft: Draft, row: Replica, taken: readonly AllocatedPort[], message: string | null): string {
  const ports = taken.map(({ name, port }) => `${name} ${port}`).join(', ')
  const what = taken.length === 1 ? 'port' : 'ports'
  const why = message === null ? '' : ` ${message}`
  const quarantine = taken.length === 1 ? 'The port is' : 'They are'
  return `Replica ${row.index} of ${draft.base.name} could not have its ${what} ${ports} on host ${hostOf(draft, row.hostId)?.name ?? 'unknown'}.${why} ${quarantine} in quarantine there, and the replica is placed again.`
}
