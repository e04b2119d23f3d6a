import TinyQueue from 'tinyqueue'
import type { Replica } from '../../model/service.ts'
import { type Stage, stageOf } from '../replica/census.ts'

/** The part of a replica that the order of victims looks at. */
export type Victim = Pick<Replica, 'id' | 'index' | 'state' | 'ready' | 'available' | 'createdAt'>

/** How much is lost with a replica of each stage. */
const losses: Readonly<Record<Stage, number>> = {
  stopping: 0,
  pending: 1,
  starting: 2,
  running: 3,
  ready: 4,
  available: 5,
}

/**
 * R11: the order in which replicas are stopped, first victim first: by what is lost, then the newest, then the highest
 * index, then the lowest id. The order is total: two different replicas are never equal.
 */
export function compareVictims(a: Victim, b: Victim): number {
  return (
    losses[stageOf(a)] - losses[stageOf(b)] ||
    b.createdAt - a.createdAt ||
    b.index - a.index ||
    (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
  )
}

/**
 * Returns the first `count` of `items` in `compare`'s order, sorted. If few of many are wanted, a heap of the best so
 * far replaces the sort of all, because a service of 50,000 replicas is stepped in commits of 500 rows.
 */
export function firstOf<T>(items: readonly T[], count: number, compare: (a: T, b: T) => number): T[] {
  if (count <= 0) return []
  if (count * 8 > items.length) return [...items].sort(compare).slice(0, count)
  const best = new TinyQueue(items.slice(0, count), (a, b) => compare(b, a))
  for (const item of items.slice(count)) {
    const worst = best.peek()
    if (worst === undefined || compare(item, worst) >= 0) continue
    best.pop()
    best.push(item)
  }
  return best.data.sort(compare)
}
