import type { TimerKind } from '../../src/generated/prisma/enums.ts'
import type { EndpointAddress } from '../../src/model/endpoint.ts'
import type { Instant, ReplicaId } from '../../src/model/id.ts'
import { isActive, isOutdated, isPlaced, leavesWhenReplaced } from '../../src/model/replica.ts'
import type { Replica, ServiceSnapshot } from '../../src/model/service.ts'
import { closeDraft } from '../../src/rules/commit/close.ts'
import { decide } from '../../src/rules/commit/decide.ts'
import type { ServiceChange } from '../../src/rules/draft/change.ts'
import type { Context } from '../../src/rules/draft/context.ts'
import { openDraft } from '../../src/rules/draft/draft.ts'
import { addressesOf, sameAddress } from '../../src/rules/endpoint/endpoint.ts'
import { resolveLimits } from '../../src/rules/rollout/limits.ts'
import { check, type ServiceStore } from '../support/drivers/serviceStore.ts'

// What must hold of a service after every commit, whatever happened (the rules' invariants).

/** The controller's own stops never take available below min(before, n − u), its starts never active above max(before, n + s). */
export function checkSafety(before: ReadonlyMap<ReplicaId, Replica>, change: ServiceChange, now: Instant): void {
  for (const row of change.updatedReplicas) {
    const start = before.get(row.id)?.start ?? row.start
    if (row.start > start) check(row.readySince === null || row.readySince === now, 'another start is not ready first')
  }
  const placed = change.updatedReplicas.filter((row) => isPlaced(row) && before.get(row.id)?.hostId === null)
  check(change.quota.delta <= placed.length, 'nothing but a grant takes quota')
  const { columns } = change
  if (columns.deletionRequestedAt !== null) return
  const n = columns.desiredReplicas
  const { maxSurge, maxUnavailable } = resolveLimits(n, columns.settings)
  const stopped = change.updatedReplicas.filter(
    (row) =>
      row.stopReason !== null &&
      row.stopReason !== 'KILLED' &&
      served(before, row) &&
      before.get(row.id)?.stopReason === null,
  )
  const available = columns.availableReplicas
  check(
    available >= Math.min(available + stopped.length, n - maxUnavailable),
    `available ${available} is not taken below ${n - maxUnavailable}`,
  )
  const activeBefore = [...before.values()].filter(isActive).length
  const drained = [...before.values(), ...change.updatedReplicas].some(
    (row) => leavesWhenReplaced(row) && isActive(row),
  )
  const surge = drained ? Math.max(1, maxSurge) : maxSurge
  check(
    columns.activeReplicas <= Math.max(activeBefore, n + surge),
    `active ${columns.activeReplicas} stays within ${n} + ${surge}`,
  )
  checkDrained(before, change)
}

/** Available until this commit, and not because of what was heard in it: its worker's silence, or its probe. */
function served(before: ReadonlyMap<ReplicaId, Replica>, row: Replica): boolean {
  return before.get(row.id)?.available === true && row.hostReachable && row.reportedReady
}

/** R15: an available replica leaves a drained host, or the host from which a user moves it, only while n have a place without it, but for those that failed and those that a rollout stops. */
function checkDrained(before: ReadonlyMap<ReplicaId, Replica>, change: ServiceChange): void {
  const stopped = change.updatedReplicas.filter(
    (row) => row.state === 'STOPPING' && before.get(row.id)?.stopReason === null,
  )
  if (
    !stopped.some(
      (row) => (row.stopReason === 'DRAINED' || row.stopReason === 'REQUEUED') && before.get(row.id)?.available,
    )
  )
    return
  const waits = ({ state, notBefore }: Replica) => state === 'PENDING' && notBefore !== null
  const failed = Math.max(...[before, change.next.replicas].map((rows) => [...rows.values()].filter(waits).length))
  const placed = [...change.next.replicas.values()].filter((row) => isActive(row) && isPlaced(row)).length
  const others = stopped.filter((row) => !leavesWhenReplaced(row)).length
  check(placed + failed + others >= change.columns.desiredReplicas, 'what is moved has a replacement with a place')
}

/** A service as its rows have it, and its table as its facts tell it. */
export interface ServiceState {
  readonly snapshot: ServiceSnapshot
  readonly table: ReadonlyMap<string, EndpointAddress>
}

export function checkInvariants(store: ServiceStore, ctx: Context): void {
  checkState(store, ctx)
  const held = store.alive.filter((row) => row.holdsQuota).length
  check(store.usedQuota === held, 'quota used is the rows that hold it')
  checkHosts(store)
  checkHistory(store)
}

/** What holds of one service whatever is known of others and of its past. */
export function checkState(state: ServiceState, ctx: Context): void {
  const { snapshot } = state
  const { columns, timers } = snapshot
  const alive = [...snapshot.replicas.values()]
  const active = alive.filter(isActive)
  check(new Set(active.map((row) => row.index)).size === active.length, 'one active replica per index')
  const target = snapshot.versions.get(columns.versionNumber)?.contentNumber ?? 0
  const outdated = active.filter((row) => isOutdated(row, target))
  if (outdated.length === 0) {
    check(
      snapshot.slots.every((slot) => slot.contentNumber === target),
      'other content has forgotten the failures of the old one',
    )
  }
  if (columns.deletionRequestedAt === null && !columns.paused && outdated.length === 0 && !goesOn(snapshot)) {
    check(
      active.length === columns.desiredReplicas,
      `with nothing outdated ${active.length} active are the ${columns.desiredReplicas} desired`,
    )
  }
  const count = (test: (row: Replica) => boolean) => alive.filter(test).length
  check(columns.activeReplicas === active.length, 'activeReplicas')
  check(columns.runningReplicas === count((row) => row.state === 'RUNNING'), 'runningReplicas')
  check(columns.readyReplicas === count((row) => row.ready), 'readyReplicas')
  check(columns.availableReplicas === count((row) => row.available), 'availableReplicas')
  check(columns.updatedReplicas === active.length - outdated.length, 'updatedReplicas')
  check(columns.stoppingReplicas === count((row) => row.state === 'STOPPING'), 'stoppingReplicas')
  checkTable(state, alive)
  for (const row of alive) {
    check(
      isPlaced(row) ? row.blocker === null && row.holdsQuota : row.blocker !== null && row.ports.length === 0,
      'every alive replica is on a host or has a blocker',
    )
    check(!row.ready || (row.state === 'RUNNING' && row.reportedReady && row.readySince !== null), 'ready as R9 says')
    check(!row.available || (row.ready && row.availableSince !== null), 'available as R9 says')
  }
  check(
    new Set(columns.blockers.map(({ reason }) => reason)).size === columns.blockers.length,
    'one blocker per reason',
  )
  checkRollout(snapshot)
  if (columns.deletionRequestedAt !== null)
    check((columns.deletedAt !== null) === (alive.length === 0), 'deleted with the last end')
  checkTimers(snapshot, alive)
  if ([...timers.values()].every((dueAt) => dueAt > ctx.now)) checkTickIsIdle(snapshot, ctx)
}

/** The cap of rows cut the commit short: the rest is due at once. */
function goesOn({ timers }: ServiceSnapshot): boolean {
  return timers.has('CONTINUE')
}

/** What rows of rollouts and versions say of one another, and of what "previous" means (R5–R8). */
function checkHistory({ snapshot, versions, rollouts }: ServiceStore): void {
  const { columns, rollout } = snapshot
  const contentOf = (number: number) => versions.get(number)?.contentNumber
  const completed = [...rollouts.values()].filter((past) => past.state === 'COMPLETED').map((past) => past.toVersion)
  const last = completed.at(-1) ?? null
  // A rollout that is watched may still be rolled back: until then "previous" is what it was before.
  const settled = rollout.watchUntil === null ? completed : completed.slice(0, -1)
  const newest = settled.at(-1)
  const previous = settled.findLast((number) => contentOf(number) !== contentOf(newest ?? 0)) ?? null
  check(columns.completedVersion === last, 'completedVersion is the version that was completed last')
  check(columns.previousVersion === previous, 'previousVersion is the last completed one with other content')
  check(
    columns.provenVersion === null || settled.includes(columns.provenVersion),
    'a version has proven itself only after its rollout was completed and its watch was over',
  )
  for (const { number, state, watchUntil } of rollouts.values()) {
    const isWatched = state === 'COMPLETED' && number === rollout.number && columns.settings.autoRollback
    check(watchUntil === null || isWatched, 'only the newest completed rollout is watched')
  }
  if (rollout.finishedAt === null)
    check(rollout.fromVersion === last, 'a rollout comes from the version that was completed last')
}

function checkRollout(snapshot: ServiceSnapshot): void {
  const { columns, rollout, replicas } = snapshot
  check(
    rollout.toVersion === columns.versionNumber && rollout.number === columns.rolloutNumber,
    'the rollout is to the target',
  )
  if (rollout.finishedAt === null) {
    const { blocker } = rollout
    check(blocker !== null || goesOn(snapshot), 'a rollout that is not finished says what it waits for')
    check((rollout.state === 'PAUSED') === columns.paused, 'PAUSED with the service')
    const mayBeNull = columns.paused || rollout.state === 'STALLED'
    check(rollout.deadlineAt === null ? mayBeNull : !columns.paused, 'a deadline runs but while paused')
    check(rollout.minReadySeconds === columns.settings.minReadySeconds, 'the rollout has the settings in force')
    const names = blocker !== null && blocker.reason !== 'ROLLOUT_PAUSED'
    check(!names || (blocker.replica != null && replicas.has(blocker.replica)), 'the blocker names an alive replica')
  } else {
    check(rollout.blocker === null && rollout.deadlineAt === null, 'a finished rollout waits for nothing')
    check(columns.deletionRequestedAt !== null || !columns.paused, 'COMPLETED ends the pause')
  }
  const marked = columns.restartNumber === null || columns.deletionRequestedAt !== null
  check(marked || goesOn(snapshot), 'a restart is marked before anything else')
}

function checkTable({ snapshot, table }: ServiceState, alive: readonly Replica[]): void {
  const listed = alive.flatMap((row) =>
    row.hostId === null ? [] : addressesOf(row, snapshot.hosts.get(row.hostId) ?? null),
  )
  check(listed.length === table.size, 'the table has as many addresses as follow from the rows')
  for (const address of listed) {
    const known = table.get(address.id)
    check(known !== undefined && sameAddress(known, address), 'the table is what follows from the rows')
  }
  const ready = new Set([...table.values()].filter((address) => address.ready).map((address) => address.replicaId))
  for (const row of alive) {
    if (row.hostAddresses.length > 0)
      check(ready.has(row.id) === row.ready, 'the ready addresses are those of the ready replicas')
  }
}

/** Whatever ends by itself with time has a timer at its instant or before. */
function checkTimers(snapshot: ServiceSnapshot, alive: readonly Replica[]): void {
  const { timers, columns, slots, rollout, versions } = snapshot
  const target = versions.get(columns.versionNumber)?.contentNumber
  const isArmed = (kind: TimerKind, dueAt: Instant) => (timers.get(kind) ?? Number.POSITIVE_INFINITY) <= dueAt
  for (const row of alive.filter(isActive)) {
    if (row.notBefore !== null) check(isArmed('BACKOFF', row.notBefore), 'a backoff has a timer')
    const { minReadySeconds, backoffResetAfterSeconds } = columns.settings
    if (row.readySince !== null && !row.available) {
      const isTroubled = rollout.troubledAt !== null && row.contentNumber === target
      const seconds = isTroubled ? Math.max(minReadySeconds, 10) : minReadySeconds
      check(isArmed('MIN_READY', row.readySince + seconds * 1000), 'a ready replica has a timer')
    }
    const failed = slots.some((slot) => slot.index === row.index && slot.contentNumber === row.contentNumber)
    if (failed && row.availableSince !== null) {
      check(isArmed('BACKOFF_RESET', row.availableSince + backoffResetAfterSeconds * 1000), 'a reset has a timer')
    }
  }
  if (rollout.watchUntil !== null) check(isArmed('WATCH', rollout.watchUntil), 'a watch has a timer')
  if (rollout.state === 'ROLLING' && rollout.deadlineAt !== null && !columns.paused) {
    check(isArmed('PROGRESS_DEADLINE', rollout.deadlineAt), 'a deadline has a timer')
  }
}

function checkHosts(store: ServiceStore): void {
  for (const [host, used] of store.used) {
    const own = store.alive.filter((row) => row.hostId === host)
    const sum = (of: (row: Replica) => number) => own.reduce((total, row) => total + of(row), 0)
    check(
      used.cpuMillis === sum((row) => row.cpuMillis) && used.memoryMiB === sum((row) => row.memoryMiB),
      'a host holds what its alive replicas hold',
    )
    check(used.ports.size === sum((row) => row.ports.length), 'a host holds the ports of its alive replicas')
  }
  const placed = store.alive.filter(isPlaced)
  check(
    new Set(placed.map((row) => row.hostId)).size === store.snapshot.hosts.size,
    'the snapshot knows the hosts of its replicas',
  )
}

/** On a committed state with no timer due, rules find nothing to do. */
function checkTickIsIdle(snapshot: ServiceSnapshot, ctx: Context): void {
  const draft = openDraft(snapshot)
  const outcome = decide(draft, { kind: 'tick' }, ctx)
  check(outcome.kind === 'done' && !outcome.changed, 'an idle tick changes nothing')
  const { facts } = closeDraft(draft, ctx)
  check(
    facts.length === 0,
    `an idle tick makes no fact: ${JSON.stringify(facts, (_, value) => (typeof value === 'bigint' ? String(value) : value))}`,
  )
}
