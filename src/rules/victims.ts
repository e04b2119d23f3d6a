import type { Replica } from '../model/service.ts'

/** What the order of victims looks at. */
export type Victim = Pick<Replica, 'id' | 'index' | 'state' | 'ready' | 'available' | 'createdAt'>

/** How much would be lost with it: 0 pending, 1 starting, 2 running but not ready, 3 ready but not available, 4 available. */
export function victimRank(replica: Victim): 0 | 1 | 2 | 3 | 4 {
  if (replica.state === 'PENDING') return 0
  if (replica.state === 'STARTING') return 1
  if (!replica.ready) return 2
  return replica.available ? 4 : 3
}

/**
 * R11: the order in which replicas are stopped, first victim first: by what is lost, then the newest, then the highest index, then the lowest
 * id. Total: two different replicas are never equal.
 */
export function compareVictims(a: Victim, b: Victim): number {
  return victimRank(a) - victimRank(b) || b.createdAt - a.createdAt || b.index - a.index || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}
