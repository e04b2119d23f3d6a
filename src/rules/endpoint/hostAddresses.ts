import type { HostAddressesIntent } from '../../model/intent.ts'
import { type CommitOutcome, unfinished } from '../../model/outcome.ts'
import { isOn, isPlaced } from '../../model/replica.ts'
import type { HostView, Replica } from '../../model/service.ts'
import { type Draft, hasRoom, put } from '../draft/draft.ts'
import { hasTold } from './hostView.ts'

/** R12: the worker's host has other addresses than the service has told: what runs there has moved with it. */
export function applyHostAddresses(draft: Draft, { worker, host }: HostAddressesIntent): CommitOutcome {
  draft.workerPreconditions.push({ workerId: worker, reachability: null, draining: null, addresses: host.addresses })
  return setHostAddresses(draft, host, (row) => isOn(row, worker))
}

/** Writes the host's addresses into those rows there that have others; the endpoint's change follows from the rows (R12). */
export function setHostAddresses(
  draft: Draft,
  host: HostView,
  isMeant: (row: Replica) => boolean = isPlaced,
): CommitOutcome {
  draft.hosts.set(host.id, host)
  let changed = false
  for (const row of [...draft.alive.rows]) {
    if (row.hostId !== host.id || !isMeant(row) || hasTold(row, host)) continue
    if (!hasRoom(draft, row.id)) return unfinished
    put(draft, { ...row, hostAddresses: host.addresses })
    changed = true
  }
  return { kind: 'done', changed }
}
