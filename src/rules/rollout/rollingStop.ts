import { leavesWhenReplaced } from '../../model/replica.ts'
import { buckets, type Roster } from './rollingRoster.ts'
import type { RollingReplica } from './rollingView.ts'
import { twinsOf } from './twin.ts'
import { compareVictims, firstOf } from './victims.ts'

/** How many replicas may be active: n + s while something is outdated, n otherwise, and none if none is wanted. */
export function ceilingOf({ view, counts }: Roster): number {
  if (view.desired === 0) return 0
  return counts.outdated > 0 ? view.desired + counts.maxSurge : view.desired
}

/** Stops what is above the ceiling, whatever its version, by R11. Returns whether there was anything. */
export function stopAboveCeiling(roster: Roster): boolean {
  return stopFirst(roster, () => roster.active(), roster.counts.active - ceilingOf(roster))
}

/** R2: stops new replicas above n by R11. Returns whether there were any. */
export function stopExcessNew(roster: Roster): boolean {
  const { newWaiting, newAvailable } = buckets
  return stopFirst(roster, () => roster.members(newWaiting, newAvailable), roster.counts.new - roster.view.desired)
}

function stopFirst(roster: Roster, replicas: () => readonly RollingReplica[], wanted: number): boolean {
  if (wanted <= 0) return false
  for (const replica of firstOf(replicas(), roster.allow(wanted), compareVictims)) roster.stop(replica, 'scale')
  return true
}

/**
 * R3's order: replicas without a process first, then leaving ones, then the oldest version, then R11. Available
 * replicas have a process, so the first step never decides among them.
 */
export function compareOutdated(a: RollingReplica, b: RollingReplica): number {
  return (
    Number(a.state !== 'PENDING') - Number(b.state !== 'PENDING') ||
    Number(a.leaving === null) - Number(b.leaving === null) ||
    a.versionNumber - b.versionNumber ||
    compareVictims(a, b)
  )
}

/**
 * R3: stops outdated replicas. The budget is what is active above the least that must be available, less the new
 * replicas that are not available yet, because they are expected to be. Replicas that serve nobody go first, as far as
 * the budget goes; available ones go only while n − u stay available. While paused, only leaving replicas are stepped,
 * those that stay are expected to become available as well, and each one that goes gets its twin (R7). Returns whether
 * there was anything to stop.
 */
export function stopOutdated(roster: Roster): boolean {
  const { view, counts } = roster
  const least = view.desired - view.maxUnavailable
  const budget = counts.active - least - counts.newWaiting - (view.paused ? counts.oldWaiting : 0)
  if (budget <= 0 || counts.outdated === 0) return false
  const { oldWaiting, oldAvailable, leavingWaiting, leavingAvailable } = buckets
  const waiting = view.paused ? roster.members(leavingWaiting) : roster.members(leavingWaiting, oldWaiting)
  const available = view.paused ? roster.members(leavingAvailable) : roster.members(leavingAvailable, oldAvailable)
  const waitingStops = Math.min(budget, waiting.length)
  const availableStops = Math.max(0, Math.min(budget - waitingStops, counts.available - least, available.length))
  const stops = firstOf(waiting, waitingStops, compareOutdated)
  stops.push(...firstAvailable(roster, available, availableStops, stops))
  if (stops.length === 0) return false
  stops.length = roster.allow(stops.length)
  if (view.paused) stopWithTwins(roster, stops)
  else for (const replica of stops) roster.stop(replica, 'rollout')
  return true
}

/**
 * Picks the first available replicas that may be stopped after `stops`. One that a drain or a user moves is picked only if
 * its replacement has a place (R15).
 */
function firstAvailable(
  roster: Roster,
  available: readonly RollingReplica[],
  most: number,
  stops: readonly RollingReplica[],
): readonly RollingReplica[] {
  if (most === 0 || !available.some(leavesWhenReplaced)) return firstOf(available, most, compareOutdated)
  let spare = placedToSpare(roster) - stops.filter(hasPlace).length
  const chosen: RollingReplica[] = []
  for (const replica of [...available].sort(compareOutdated)) {
    if (chosen.length === most) break
    if (leavesWhenReplaced(replica) && spare <= 0) continue
    chosen.push(replica)
    spare--
  }
  return chosen
}

/**
 * How many placed replicas there are beyond those that n needs, which is how many replacements have a place. A replica
 * that waits after failures replaces nobody, because it must not keep a host from being drained.
 */
function placedToSpare(roster: Roster): number {
  const active = roster.active()
  const failed = active.filter((replica) => replica.state === 'PENDING' && replica.notBefore !== null).length
  return active.filter(hasPlace).length - (roster.view.desired - failed)
}

/** An active replica has a place when it no longer waits for a host. */
function hasPlace(replica: RollingReplica): boolean {
  return replica.state !== 'PENDING'
}

/**
 * R7: a leaving replica without a twin gets one in the commit that stops it, if fewer than n stay. Either both rows fit
 * under the row cap or neither is written.
 */
function stopWithTwins(roster: Roster, stops: readonly RollingReplica[]): void {
  const twins = twinsOf(roster)
  let staying = roster.counts.active - roster.counts.leaving
  for (const replica of stops) {
    const twin = staying < roster.view.desired && !twins.has(replica.id)
    const rows = twin ? 2 : 1
    if (roster.allow(rows) < rows) return
    roster.stop(replica, 'rollout')
    twins.remove(replica)
    if (!twin) continue
    roster.start(replica, replica.id)
    staying++
  }
}
