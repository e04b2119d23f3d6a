import type { Blocker } from '../model/blocker.ts'
import type { Instant } from '../model/id.ts'
import { isActive, isAlive } from '../model/replica.ts'
import type { ServiceColumns } from '../model/service.ts'
import type { ChangedRow } from './invariants.ts'

/** What starts and stops within one second, and the counts at the end of it. */
export interface PlanStep {
  /** Seconds from now, rounded up. */
  readonly atSeconds: number
  /** Indexes of the replicas that are created and stopped. */
  readonly starts: readonly number[]
  readonly stops: readonly number[]
  readonly active: number
  readonly ready: number
  readonly available: number
}

export interface RolloutPlan {
  readonly steps: readonly PlanStep[]
  readonly lowestAvailable: number
  readonly highestActive: number
  readonly durationSeconds: number | null
  readonly finished: boolean
  /** For how many seconds it is watched once it is complete (R6); 0 if it is not. */
  readonly watchSeconds: number
  readonly blocker: Blocker | null
  /** What the settings can't do. */
  readonly warnings: readonly string[]
}

/** A plan with more steps than these joins two neighbours to one, which has the later one's second and counts. */
export const mostSteps = 500

type Counts = Pick<ServiceColumns, 'activeReplicas' | 'readyReplicas' | 'availableReplicas'>

interface OpenStep {
  atSeconds: number
  starts: number[]
  stops: number[]
  active: number
  ready: number
  available: number
}

/** Collects the steps of a plan from the commits. */
export class PlanSteps {
  readonly #begin: Instant
  readonly #steps: OpenStep[] = []
  #before: Counts
  #lowestAvailable: number
  #highestActive: number

  constructor(begin: Instant, counts: Counts) {
    this.#begin = begin
    this.#before = counts
    this.#lowestAvailable = counts.availableReplicas
    this.#highestActive = counts.activeReplicas
  }

  take(at: Instant, counts: Counts, rows: readonly ChangedRow[]): void {
    const starts = rows.filter(({ before, after }) => before === null && isAlive(after)).map(({ after }) => after.index)
    const stops = rows.filter(isStopped).map(({ after }) => after.index)
    const { activeReplicas: active, readyReplicas: ready, availableReplicas: available } = counts
    this.#lowestAvailable = Math.min(this.#lowestAvailable, available)
    this.#highestActive = Math.max(this.#highestActive, active)
    const { activeReplicas, readyReplicas, availableReplicas } = this.#before
    this.#before = counts
    const isSame = active === activeReplicas && ready === readyReplicas && available === availableReplicas
    if (isSame && starts.length === 0 && stops.length === 0) return
    const atSeconds = Math.ceil((at - this.#begin) / 1_000)
    const last = this.#steps.at(-1)
    if (last?.atSeconds === atSeconds) {
      last.starts.push(...starts)
      last.stops.push(...stops)
      Object.assign(last, { active, ready, available })
    } else this.#steps.push({ atSeconds, starts, stops, active, ready, available })
  }

  summary(): Pick<RolloutPlan, 'steps' | 'lowestAvailable' | 'highestActive'> {
    let steps: readonly OpenStep[] = this.#steps
    while (steps.length > mostSteps) steps = paired(steps)
    const inOrder = (indexes: readonly number[]) => [...indexes].sort((a, b) => a - b)
    return {
      steps: steps.map((step) => ({ ...step, starts: inOrder(step.starts), stops: inOrder(step.stops) })),
      lowestAvailable: this.#lowestAvailable,
      highestActive: this.#highestActive,
    }
  }
}

function paired(steps: readonly OpenStep[]): OpenStep[] {
  const pairs: OpenStep[] = []
  for (let at = 0; at < steps.length; at += 2) {
    const [first, second] = [steps[at], steps[at + 1]]
    if (first === undefined) continue
    if (second === undefined) pairs.push(first)
    else
      pairs.push({ ...second, starts: [...first.starts, ...second.starts], stops: [...first.stops, ...second.stops] })
  }
  return pairs
}

/** The commit stopped the replica, whatever becomes of it later. */
function isStopped({ before, after }: ChangedRow): boolean {
  return before !== null && isActive(before) && after.stopReason !== null
}
