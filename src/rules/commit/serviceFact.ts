import type { NewFact, ServiceFactData } from '../../model/fact.ts'
import { hostHeldBy, isAlive } from '../../model/replica.ts'
import type { Rollout, ServiceColumns, ServiceSnapshot } from '../../model/service.ts'
import type { HostUse } from '../draft/change.ts'
import type { Draft } from '../draft/draft.ts'
import { eventTextsOf } from '../draft/events.ts'
import type { RowChange } from '../draft/rowChange.ts'
import { endpointChangeOf } from '../endpoint/endpointChange.ts'
import { releases } from './hostUse.ts'

/** Makes one fact per event: all but the last carry only their event, and the last one carries the change too. */
export function factsOf(draft: Draft, data: ServiceFactData): NewFact[] {
  const events = eventTextsOf(draft.base.name, draft.events)
  const last = events.pop() ?? null
  return [...events.map((event): NewFact => ({ kind: 'eventOnly', event })), { kind: 'change', data, event: last }]
}

/** Describes the change, as the service's fact carries it. */
export function factDataOf(
  draft: Draft,
  next: ServiceSnapshot,
  rows: readonly RowChange[],
  hosts: readonly HostUse[],
  quotaDelta: number,
  rollouts: readonly Rollout[],
): ServiceFactData {
  const { base } = draft
  const { before, after } = columnChangesOf(draft.created ? null : base.columns, next.columns)
  const created = rows.some(
    (row) => row.before === null && row.after.state === 'PENDING' && row.after.notBefore === null,
  )
  const dueAt = Math.min(...next.timers.values())
  return {
    format: 1,
    name: base.name,
    projectId: base.projectId,
    before,
    after,
    replicas: rows.map((row) => row.after.id),
    ended: rows.filter((row) => !isAlive(row.after)).map((row) => row.after.id),
    hosts: [...new Set(rows.flatMap(assignmentHosts))].sort(),
    ...endpointChangeOf(draft, rows),
    rollouts: rollouts.map((rollout) => rollout.id),
    status: next.columns.status,
    dueAt: Number.isFinite(dueAt) ? dueAt : null,
    wakesPlacement: draft.wakesPlacement || created || quotaDelta < 0 || hosts.some(releases),
  }
}

/** Names the hosts whose assignments the row's change affects: the replica comes, is to stop, or goes. */
function assignmentHosts({ before, after }: RowChange) {
  const was = before === null ? null : hostHeldBy(before)
  const is = hostHeldBy(after)
  if (was === is && (is === null || (before?.state === 'STOPPING') === (after.state === 'STOPPING'))) return []
  return [was, is].filter((host) => host !== null)
}

function columnChangesOf(
  before: ServiceColumns | null,
  after: ServiceColumns,
): Pick<ServiceFactData, 'before' | 'after'> {
  if (before === null) return { before: {}, after }
  const changed = (Object.keys(after) as (keyof ServiceColumns)[]).filter((column) => before[column] !== after[column])
  const pick = (columns: ServiceColumns) => Object.fromEntries(changed.map((column) => [column, columns[column]]))
  return { before: pick(before), after: pick(after) }
}
