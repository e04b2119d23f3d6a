import type { ReplicaId } from '../../model/id.ts'
import { isActive } from '../../model/replica.ts'
import type { Replica, Version } from '../../model/service.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, isDeleting, put, targetOf, versionOf } from '../draft/draft.ts'
import { hostLeftFor } from '../draft/hostLeft.ts'
import { slotKey } from '../draft/slot.ts'
import { withWait } from './backoff.ts'

/** Creates a PENDING row. Its wait and the host it avoids come from the slot's failures (R10), or the host from a move (R15). */
export function start(
  draft: Draft,
  slot: {
    readonly index: number
    readonly version: Version
    readonly twinOf: ReplicaId | null
    readonly holdsQuota: boolean
  },
  ctx: Context,
): Replica {
  const { index, version, twinOf, holdsQuota } = slot
  const failures = draft.slots.get(slotKey(index, version.contentNumber))
  const created: Replica = {
    id: ctx.newId() as ReplicaId,
    index,
    versionNumber: version.number,
    contentNumber: version.contentNumber,
    state: 'PENDING',
    ready: false,
    readySince: null,
    available: false,
    availableSince: null,
    reportedReady: false,
    hostReachable: true,
    start: 1,
    leaving: null,
    twinOf,
    hostId: null,
    workerId: null,
    hostAddresses: [],
    ports: [],
    cpuMillis: version.content.cpuMillis,
    memoryMiB: version.content.memoryMiB,
    holdsQuota,
    blocker: null,
    notBefore: null,
    portConflicts: 0,
    avoidHostId: failures?.failedHostId ?? hostLeftFor(draft, twinOf),
    stopReason: null,
    stoppingAt: null,
    endReason: null,
    exitCode: null,
    exitSignal: null,
    endMessage: null,
    lastProbe: null,
    lastExit: null,
    reportedEpoch: 0,
    reportedSequence: 0,
    repeats: {},
    createdAt: ctx.now,
    startedAt: null,
    endedAt: null,
  }
  const row = withWait(draft, created, ctx.now)
  put(draft, row)
  return row
}

/**
 * Creates the replacement of an active row that ends, in the same commit: it has the same index and the same version
 * (the target's number, if the content is equal), and it inherits the quota that the row no longer holds, and the
 * memory of what has happened to the slot. A service that is being deleted gets no replacement.
 */
export function replace(draft: Draft, gone: Replica, holdsQuota: boolean, ctx: Context): void {
  if (isDeleting(draft)) return
  const target = targetOf(draft)
  const version = gone.contentNumber === target.contentNumber ? target : versionOf(draft, gone.versionNumber)
  const heir = start(draft, { index: gone.index, version, twinOf: gone.twinOf, holdsQuota }, ctx)
  draft.heirs.set(heir.id, gone.id)
}

/** Yields the smallest indexes that no active row of the service has, in order. */
export function* freeIndexes(draft: Draft): Generator<number, never> {
  const taken = new Set<number>()
  for (const row of draft.alive.rows) if (isActive(row)) taken.add(row.index)
  for (let index = 0; ; index++) if (!taken.has(index)) yield index
}
