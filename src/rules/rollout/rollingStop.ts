import { buckets, type Roster } from './rollingRoster.ts'
import type { RollingReplica } from './rollingView.ts'
import { twinsOf } from './twin.ts'
import { compareVictims, firstOf } from './victims.ts'

/** The most replicas that may be active: n + s while something is outdated, n otherwise, none where none is wanted. */
export function ceilingOf({ view, counts }: Roster): number {
  if (view.desired === 0) return 0
  return counts.outdated > 0 ? view.desired + counts.maxSurge : view.desired
}

/** Stops what is above the ceiling, whatever its version, by R11. True: there was some. */
export function stopAboveCeiling(roster: Roster): boolean {
  return stopFirst(roster, () => roster.active(), roster.counts.active - ceilingOf(roster))
}

/** R2: stops new ones above n by R11. True: there were some. */
export function stopExcessNew(roster: Roster): boolean {
  const { newWaiting, newAvailable } = buckets
  return stopFirst(roster, () => roster.members(newWaiting, newAvailable), roster.counts.new - roster.view.desired)
}

function stopFirst(roster: Roster, replicas: () => readonly RollingReplica[], wanted: number): boolean {
  if (wanted <= 0) return false
  for (const replica of firstOf(replicas(), roster.allow(wanted), compareVictims)) roster.stop(replica, 'scale')
  return true
}

/** R3's order: without a process first, then leaving, then the oldest version, then R11. For available ones the first two are one. */
export function compareOutdated(a: RollingReplica, b: RollingReplica): number {
  return (
    Number(a.state !== 'PENDING') - Number(b.state !== 'PENDING') ||
    Number(a.leaving === null) - Number(b.leaving === null) ||
    a.versionNumber - b.versionNumber ||
    compareVictims(a, b)
  )
}

/**
 * R3: stops outdated replicas. The budget is what is active above the least that must be available, less the new ones that are not available
 * yet: they are expected to be. Those that serve nobody go first, for as much as the budget gives; available ones only while n − u stay
 * available. While paused only leaving ones are stepped, those that stay are expected too, and each that goes gets its twin (R7). True: some
 * were to be stopped.
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

/** Of the available ones the first that may be stopped, after `stops` were; of those that a drain moves only ones whose place is taken (R15). */
function firstAvailable(
  roster: Roster,
  available: readonly RollingReplica[],
  most: number,
  stops: readonly RollingReplica[],
): readonly RollingReplica[] {
  if (most === 0 || !available.some((replica) => replica.leaving === 'DRAIN'))
    return firstOf(available, most, compareOutdated)
  let spare = placedToSpare(roster) - stops.filter(hasPlace).length
  const chosen: RollingReplica[] = []
  for (const replica of [...available].sort(compareOutdated)) {
    if (chosen.length === most) break
    if (replica.leaving === 'DRAIN' && spare <= 0) continue
    chosen.push(replica)
    spare--
  }
  return chosen
}

/**
 * How many placed replicas there are beyond those that n leaves no room to miss: so many replacements have a place. What waits after failures is
 * in nobody's place: it must not keep a host from being drained.
 */
function placedToSpare(roster: Roster): number {
  const active = roster.active()
  const failed = active.filter((replica) => replica.state === 'PENDING' && replica.notBefore !== null).length
  return active.filter(hasPlace).length - (roster.view.desired - failed)
}

/** Of active ones: it does not wait for a host any more. */
function hasPlace(replica: RollingReplica): boolean {
  return replica.state !== 'PENDING'
}

/** R7: a leaving one without a twin gets it in the commit that stops it, if fewer than n stay. Both rows or none are within the cap. */
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
