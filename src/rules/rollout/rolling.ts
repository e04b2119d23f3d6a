import { Roster } from './rollingRoster.ts'
import { startGrowth, startNew, startWhilePaused } from './rollingStart.ts'
import { stopAboveCeiling, stopExcessNew, stopOutdated } from './rollingStop.ts'
import type { RollingResult, RollingView } from './rollingView.ts'

/**
 * The rolling step decides which replicas a service starts and stops in one commit. First growth is spread over the
 * versions (R4). Then the ceiling, the excess of new ones, R3's stops and R2's starts take turns, each on fresh counts,
 * until none has anything to do or the row cap is used up. A step on its own result finds nothing to do.
 *
 * For example with n = 4, s = 1, u = 1, a new target and 4 old replicas available: R3 may stop 4 − 3 = 1, which leaves
 * 3 old; R2 starts min(5 − 3, 4) = 2, which makes 3 old and 2 new pending. R3's budget is 5 − 3 − 2 = 0 now, so the
 * rollout waits. When one new replica is available, the budget is 5 − 3 − 1 = 1: one old replica goes and one new one
 * starts; and so on, with never fewer than 3 available and never more than 5 active.
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
