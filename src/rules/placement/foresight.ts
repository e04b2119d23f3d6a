import type { WaitingReplica } from '../../model/host.ts'
import type { Replica } from '../../model/service.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, put, versionOf } from '../draft/draft.ts'
import { hostLeftFor } from '../draft/hostLeft.ts'
import { place } from './placement.ts'

/**
 * Gives the replicas that begin to wait with this commit the blocker that placement would give them, so that the commit
 * and the answer of a mutation have the real reason. Where the room is not known, or there is enough, they are QUEUED
 * until placement has looked.
 */
export function foresee(draft: Draft, ctx: Context): void {
  const { room } = draft
  if (room === null) return
  const waiting: WaitingReplica[] = []
  for (const row of draft.touched.values()) if (isQueued(row)) waiting.push(waitingOf(draft, row))
  if (waiting.length === 0) return
  const { hosts, projects } = room
  for (const { replica, blocker } of place({ waiting, hosts: [...hosts], projects: [...projects], now: ctx.now })
    .holds) {
    const row = draft.alive.get(replica)
    if (row !== undefined) put(draft, { ...row, blocker })
  }
}

function isQueued({ state, notBefore, blocker }: Replica): boolean {
  return state === 'PENDING' && notBefore === null && (blocker === null || blocker.reason === 'QUEUED')
}

function waitingOf(draft: Draft, row: Replica): WaitingReplica {
  const { id: serviceId, name: serviceName, projectId } = draft.base
  const { spreadMode, maxPerHost } = draft.columns.settings
  const { ports } = versionOf(draft, row.versionNumber).content
  const { id, createdAt, index, cpuMillis, memoryMiB, avoidHostId, holdsQuota, portConflicts } = row
  const bannedHostId = hostLeftFor(draft, row.twinOf)
  const own = { id, createdAt, index, cpuMillis, memoryMiB, avoidHostId, holdsQuota, portConflicts }
  // Only replicas of this service are placed here, so the queue's priority makes no difference.
  return { ...own, bannedHostId, serviceId, serviceName, projectId, queuePriority: 0, ports, spreadMode, maxPerHost }
}
