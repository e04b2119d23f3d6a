import { apportion } from './apportion.ts'
import { buckets, type Roster } from './rollingRoster.ts'
import { ceilingOf, compareOutdated } from './rollingStop.ts'
import type { RollingReplica } from './rollingView.ts'
import { twinsOf } from './twin.ts'

/**
 * R4: a service that grows while something is outdated grows in all its versions, in proportion to their active counts,
 * up to n + s. That holds within the row cap; whatever lies beyond starts at the target in later commits. Growth from 0
 * starts at the target. Returns whether there was anything to start.
 */
export function startGrowth(roster: Roster): boolean {
  const { view, counts } = roster
  const growth = ceilingOf(roster) - counts.active
  if (!view.grownFrom || view.desired <= view.grownFrom || counts.outdated === 0 || growth <= 0) return false
  const active = new Map<number, number>()
  const siblings = new Map<number, RollingReplica>()
  for (const replica of roster.active()) {
    const number = roster.versionFor(replica)
    active.set(number, (active.get(number) ?? 0) + 1)
    siblings.set(number, replica)
  }
  for (const { versionNumber, seats } of apportion(roster.allow(growth), active)) {
    for (let seat = 0; seat < seats; seat++) roster.start(siblings.get(versionNumber) ?? null, null)
  }
  return true
}

/**
 * R2: starts new replicas at the target, up to n of them and within n + s active ones. The first of them are for the
 * replicas that a user moves, so that they keep off the hosts of those (R15). Returns whether there was anything to start.
 */
export function startNew(roster: Roster): boolean {
  const { view, counts } = roster
  const wanted = Math.min(view.desired + counts.maxSurge - counts.active, view.desired - counts.new)
  if (wanted <= 0) return false
  const moved = roster.moved().sort(compareOutdated)
  const twins = moved.length === 0 ? null : twinsOf(roster)
  const alone = moved.filter(({ id }) => twins?.has(id) === false)
  for (let rows = roster.allow(wanted); rows > 0; rows--) roster.start(null, alone.shift()?.id ?? null)
  return true
}

/**
 * R2 while paused (R7): no version steps. Leaving replicas are replaced at their own version, in R3's order: first
 * twins for those without one, then one more for each. What is missing beyond that starts at the target. Returns
 * whether there was anything to start.
 */
export function startWhilePaused(roster: Roster): boolean {
  const { view, counts } = roster
  const staying = counts.active - counts.leaving
  const wanted = Math.min(view.desired + counts.maxSurge - counts.active, view.desired - staying)
  if (wanted <= 0) return false
  const leaving = [
    ...roster.members(buckets.leavingWaiting).sort(compareOutdated),
    ...roster.members(buckets.leavingAvailable).sort(compareOutdated),
  ]
  const twins = twinsOf(roster)
  let rows = roster.allow(wanted)
  for (const replica of leaving) {
    if (rows === 0) return true
    if (twins.has(replica.id)) continue
    roster.start(replica, replica.id)
    rows--
  }
  for (const replica of leaving) {
    if (rows === 0) return true
    roster.start(replica, null)
    rows--
  }
  for (; rows > 0; rows--) roster.start(null, null)
  return true
}
