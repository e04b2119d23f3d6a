import { isOutdated } from '../../model/replica.ts'
import type { Replica, ServiceColumns } from '../../model/service.ts'

/**
 * Where a replica stands. Each replica is in exactly one stage, and everything that is counted is counted from the
 * stages.
 */
export type Stage = 'pending' | 'starting' | 'running' | 'ready' | 'available' | 'stopping'

export function stageOf(row: Pick<Replica, 'state' | 'ready' | 'available'>): Stage {
  if (row.state === 'PENDING') return 'pending'
  if (row.state === 'STARTING') return 'starting'
  if (row.state === 'STOPPING') return 'stopping'
  return row.available ? 'available' : row.ready ? 'ready' : 'running'
}

type PerStage = Record<Stage, number>

/** How many alive replicas are in each stage, of those that are not outdated and of those that are. */
export interface Census {
  readonly updated: Readonly<PerStage>
  readonly outdated: Readonly<PerStage>
}

export function takeCensus(alive: readonly Replica[], targetContent: number): Census {
  const updated = empty()
  const outdated = empty()
  // Most rows by far are available and up to date. They are counted apart, because a big service would cost many
  // look-ups otherwise.
  let steady = 0
  for (const row of alive) {
    if (row.available && row.contentNumber === targetContent && row.leaving === null) steady++
    else (isOutdated(row, targetContent) ? outdated : updated)[stageOf(row)]++
  }
  updated.available += steady
  return { updated, outdated }
}

/** How many are active: not ended and not stopping. */
export function activeOf(counts: Readonly<PerStage>): number {
  return counts.pending + counts.starting + counts.running + counts.ready + counts.available
}

type Counts = Pick<
  ServiceColumns,
  'activeReplicas' | 'runningReplicas' | 'readyReplicas' | 'availableReplicas' | 'updatedReplicas' | 'stoppingReplicas'
>

/** Sums up the counts that the service's row keeps. */
export function countsOf({ updated, outdated }: Census): Counts {
  const both = (stage: Stage) => updated[stage] + outdated[stage]
  const ready = both('ready') + both('available')
  return {
    activeReplicas: activeOf(updated) + activeOf(outdated),
    runningReplicas: both('running') + ready,
    readyReplicas: ready,
    availableReplicas: both('available'),
    updatedReplicas: activeOf(updated),
    stoppingReplicas: both('stopping'),
  }
}

function empty(): PerStage {
  return { pending: 0, starting: 0, running: 0, ready: 0, available: 0, stopping: 0 }
}
