import type { TimerKind } from '../../generated/prisma/enums.ts'
import { sameBlocker, sameBlockers } from '../../model/blocker.ts'
import type { Instant } from '../../model/id.ts'
import type { Rollout, ServiceColumns, Slot } from '../../model/service.ts'
import type { ServiceChange } from '../draft/change.ts'
import type { Context } from '../draft/context.ts'
import type { Draft } from '../draft/draft.ts'
import { tellEvents } from '../draft/repeats.ts'
import { rowChangesOf } from '../draft/rowChange.ts'
import { keyOf } from '../draft/slot.ts'
import { isTargetLooping } from '../replica/backoff.ts'
import { countsOf } from '../replica/census.ts'
import { growthOf } from '../service/growth.ts'
import { statusOf } from '../service/status.ts'
import { blockersOf } from '../waiting/blockers.ts'
import { hostUsesOf } from './hostUse.ts'
import { nextSnapshotOf } from './nextSnapshot.ts'
import { factDataOf, factsOf } from './serviceFact.ts'
import { settle } from './settle.ts'
import { timersOf } from './timers.ts'

/**
 * Settles the rules over everything that was decided and returns the difference to the snapshot: rows, counts, status,
 * timers, quota, hosts, the endpoint's addresses, and the facts. A change without facts changed nothing. Close a draft
 * only once.
 */
export function closeDraft(draft: Draft, ctx: Context): ServiceChange {
  const { base } = draft
  const columns = settledColumns(draft, ctx)
  const { events, specEvent } = tellEvents(draft, ctx.now)
  const rows = rowChangesOf(draft)
  const next = nextSnapshotOf(draft, columns, timersOf(draft, ctx.now))
  const hosts = hostUsesOf(draft, rows)
  const quotaDelta = rows.reduce(
    (sum, { before, after }) => sum + Number(after.holdsQuota) - Number(before?.holdsQuota ?? false),
    0,
  )
  const change = {
    id: base.id,
    guard: base.guard,
    created: draft.created ? next : null,
    columns,
    insertedVersions: draft.insertedVersions,
    insertedReplicas: rows.filter(({ before }) => before === null).map(({ after }) => after),
    updatedReplicas: rows.filter(({ before }) => before !== null).map(({ after }) => after),
    rollouts: [...draft.left, ...(draft.created || !sameRollout(base.rollout, next.rollout) ? [next.rollout] : [])],
    slots: slotChangesOf(base.slots, next.slots),
    timers: timerChangesOf(base.timers, next.timers),
    quota: { projectId: base.projectId, delta: quotaDelta },
    limit: draft.comparesLimit ? { maxReplicas: base.maxReplicas } : null,
    hosts,
    fences: draft.fences,
    workerPreconditions: draft.workerPreconditions,
  }
  const data = factDataOf(draft, next, rows, hosts, quotaDelta, change.rollouts)
  const changed =
    draft.created ||
    draft.events.length > 0 ||
    rows.length > 0 ||
    Object.keys(data.after).length > 0 ||
    next.hosts !== base.hosts ||
    data.upserted.length + data.removed.length > 0 ||
    change.rollouts.length + change.slots.upserted.length + change.slots.deleted.length > 0 ||
    change.timers.upserted.size + change.timers.deleted.length > 0
  return { ...change, facts: changed ? factsOf(events, data) : [], specFact: changed ? specEvent : null, next }
}

/** Returns the columns after the rules have settled. */
function settledColumns(draft: Draft, ctx: Context): ServiceColumns {
  const counts = countsOf(settle(draft, ctx))
  const before = draft.base.columns
  draft.columns = { ...draft.columns, ...counts, ...growthOf(draft, counts.availableReplicas, ctx.now) }
  const counted = draft.columns
  const blockers = blockersOf(draft, ctx.now)
  const crashLoop = blockers.some(({ reason }) => reason === 'CRASH_LOOP') && isTargetLooping(draft)
  return {
    ...counted,
    blockers: sameBlockers(before.blockers, blockers) ? before.blockers : blockers,
    status: statusOf({ columns: counted, crashLoop, rollout: draft.rollout }),
  }
}

function sameRollout(a: Rollout, b: Rollout): boolean {
  if (a === b) return true
  return (Object.keys(a) as (keyof Rollout)[]).every((column) =>
    column === 'blocker' ? sameBlocker(a.blocker, b.blocker) : a[column] === b[column],
  )
}

function slotChangesOf(before: readonly Slot[], after: readonly Slot[]): ServiceChange['slots'] {
  if (before.length === 0 && after.length === 0) return { upserted: [], deleted: [] }
  const known = new Map(before.map((slot) => [keyOf(slot), slot]))
  const kept = new Set(after.map(keyOf))
  const deleted = before
    .filter((slot) => !kept.has(keyOf(slot)))
    .map(({ index, contentNumber }) => ({ index, contentNumber }))
  return { upserted: after.filter((slot) => known.get(keyOf(slot)) !== slot), deleted }
}

function timerChangesOf(
  before: ReadonlyMap<TimerKind, Instant>,
  after: ReadonlyMap<TimerKind, Instant>,
): ServiceChange['timers'] {
  const upserted = new Map([...after].filter(([kind, dueAt]) => before.get(kind) !== dueAt))
  return { upserted, deleted: [...before.keys()].filter((kind) => !after.has(kind)) }
}
