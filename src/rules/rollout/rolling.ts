import { Roster } from './rollingRoster.ts'
import { startGrowth, startNew, startWhilePaused } from './rollingStart.ts'
import { stopAboveCeiling, stopExcessNew, stopOutdated } from './rollingStop.ts'
import type { RollingResult, RollingView } from './rollingView.ts'

/**
 * The rolling step: which replicas a service starts and stops in one commit. Growth is spread over the versions first (R4); then the ceiling,
 * the excess of new ones, R3's stops and R2's starts take turns, each on fresh counts, until none has anything to do or the cap of rows is
 * used up. A step on its own result finds nothing to do.
 *
 * Worked example, n = 4, s = 1, u = 1, a new target: 4 old available. R3 may stop 4 − 3 = 1 → 3 old; R2 starts min(5 − 3, 4) = 2 → 3 old and
 * 2 new pending. R3: 5 − 3 − 2 = 0: it waits. One new becomes available: 5 − 3 − 1 = 1 old goes, one new starts; and so on, with never fewer
 * than 3 available and never more than 5 active.
 */
export function rollingStep(view: RollingView): RollingResult {
  const roster = new Roster(view)
  if (startGrowth(roster)) roster.recount()
  while (!roster.capped && advance(roster)) roster.recount()
  return roster.result()
}

function advance(roster: Roster): boolean {
  return (
    stopAboveCeiling(roster) ||
    stopExcessNew(roster) ||
    stopOutdated(roster) ||
    (roster.view.paused ? startWhilePaused(roster) : startNew(roster))
  )
}
