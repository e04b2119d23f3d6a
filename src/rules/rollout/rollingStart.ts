import { apportion } from './apportion.ts'
import { buckets, type Roster } from './rollingRoster.ts'
import { ceilingOf, compareOutdated } from './rollingStop.ts'
import type { RollingReplica } from './rollingView.ts'
import { twinsOf } from './twin.ts'

/**
 * R4: a service that grows while something is outdated grows in all its versions, by their active counts, up to n + s. At most the cap: what
 * is beyond starts at the target, in the commits that follow. Growth from 0 starts at the target. True: some were to be started.
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

/** R2: starts new ones at the target up to n of them, within n + s active ones. True: some were to be started. */
export function startNew(roster: Roster): boolean {
  const { view, counts } = roster
  const wanted = Math.min(view.desired + counts.maxSurge - counts.active, view.desired - counts.new)
  if (wanted <= 0) return false
  for (let rows = roster.allow(wanted); rows > 0; rows--) roster.start(null, null)
  return true
}

/**
 * R2 while paused (R7): no version steps. What leaves is replaced at its own version, in R3's order: twins for those without one, then one
 * more each; what is missing beyond that starts at the target. True: some were to be started.
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
