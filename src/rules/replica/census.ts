import { isOutdated } from '../../model/replica.ts'
import type { Replica, ServiceColumns } from '../../model/service.ts'

/** Where a replica stands. Each is in exactly one of these; whatever is counted is counted from them. */
export type Stage = 'pending' | 'starting' | 'running' | 'ready' | 'available' | 'stopping'

export function stageOf(row: Pick<Replica, 'state' | 'ready' | 'available'>): Stage {
  if (row.state === 'PENDING') return 'pending'
  if (row.state === 'STARTING') return 'starting'
  if (row.state === 'STOPPING') return 'stopping'
  return row.available ? 'available' : row.ready ? 'ready' : 'running'
}

type PerStage = Record<Stage, number>

/** Alive replicas per stage: those that are not outdated, and those that are. */
export interface Census {
  readonly updated: Readonly<PerStage>
  readonly outdated: Readonly<PerStage>
}

export function takeCensus(alive: readonly Replica[], targetContent: number): Census {
  const updated = empty()
  const outdated = empty()
  // By far most rows are available and up to date: they are counted apart, or a service of many would cost many look-ups.
  let steady = 0
  for (const row of alive) {
    if (row.available && row.contentNumber === targetContent && row.leaving === null) steady++
    else (isOutdated(row, targetContent) ? outdated : updated)[stageOf(row)]++
  }
  updated.available += steady
  return { updated, outdated }
}

/** Active: not ended and not stopping. */
export function activeOf(counts: Readonly<PerStage>): number {
  return counts.pending + counts.starting + counts.running + counts.ready + counts.available
}

type Counts = Pick<
  ServiceColumns,
  'activeReplicas' | 'runningReplicas' | 'readyReplicas' | 'availableReplicas' | 'updatedReplicas' | 'stoppingReplicas'
>

/** The counts that the service's row keeps. */
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
