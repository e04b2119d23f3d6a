import type { HostAddressesIntent } from '../../model/intent.ts'
import { type CommitOutcome, unfinished } from '../../model/outcome.ts'
import { isActive, isOn, isPlaced } from '../../model/replica.ts'
import type { HostView, Replica } from '../../model/service.ts'
import { type Draft, hasRoom, put } from '../draft/draft.ts'
import { recordSharedEvent } from '../draft/events.ts'

/** R12: the worker's host has other addresses than the service has published, so the replicas there move with it. */
export function applyHostAddresses(draft: Draft, { worker, host }: HostAddressesIntent): CommitOutcome {
  draft.workerPreconditions.push({ workerId: worker, reachability: null, draining: null, addresses: host.addresses })
  return setHostAddresses(draft, host, (row) => isOn(row, worker))
}

/**
 * Writes the host's addresses into the rows there that hold others; the endpoint's change follows from the rows (R12).
 * What was started for another first address is leaving from now on, so it is started again within the service's limits.
 */
export function setHostAddresses(
  draft: Draft,
  host: HostView,
  isMeant: (row: Replica) => boolean = isPlaced,
): CommitOutcome {
  let changed = false
  for (const row of [...draft.alive.rows]) {
    if (row.hostId !== host.id || !isMeant(row) || hasPublished(row, host)) continue
    if (!hasRoom(draft, row.id)) return unfinished
    const moves = isStartedElsewhere(row, host)
    put(draft, { ...row, hostAddresses: host.addresses, leaving: moves ? 'MOVED' : row.leaving })
    if (moves) {
      const why = `host ${host.name} has moved to ${host.addresses[0]}`
      recordSharedEvent(draft, row, 'moved', `is to be started again: ${why}`, `are to be started again: ${why}`)
    }
    changed = true
  }
  return { kind: 'done', changed }
}

/** The process was started for another address of its host, so it may listen where nobody reaches it. */
function isStartedElsewhere(row: Replica, { addresses: [to] }: HostView): boolean {
  const [from] = row.hostAddresses
  return (
    row.leaving === null &&
    isActive(row) &&
    row.startedAt !== null &&
    from !== undefined &&
    to !== undefined &&
    from !== to
  )
}

/** The service has published exactly these addresses for the replica. */
export function hasPublished({ hostAddresses }: Pick<Replica, 'hostAddresses'>, { addresses }: HostView): boolean {
  return hostAddresses.length === addresses.length && hostAddresses.every((address, at) => address === addresses[at])
}
