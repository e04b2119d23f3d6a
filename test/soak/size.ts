import type { Database } from '../../src/store/database/database.ts'

export interface SizeSample {
  readonly mebibytes: number
  readonly head: number
  readonly facts: number
  readonly events: number
  readonly ended: number
}

/** Samples, one in 10 s: history is trimmed at every 5,000 facts, so a third of a shorter run has no whole round of it. */
const leastSamples = 55
const mostGrowth = 1.2

export async function takeSize({ prisma }: Database): Promise<SizeSample> {
  const [row] = await prisma.$queryRaw<SizeSample[]>`
    SELECT pg_database_size(current_database())::float8 / 1048576 AS mebibytes, (SELECT "head"::int FROM "Feed") AS head,
      (SELECT count(*)::int FROM "Fact") AS facts, (SELECT count(*)::int FROM "Event") AS events,
      (SELECT count(*)::int FROM "Replica" WHERE "endedAt" IS NOT NULL) AS ended`
  if (row === undefined) throw new Error('The database has no size.')
  return row
}

/** How much the largest of the last third is larger than the largest of the middle one; null: the run was too short to tell. */
export function growthOf(samples: readonly SizeSample[]): number | null {
  if (samples.length < leastSamples) return null
  const third = Math.floor(samples.length / 3)
  const largest = (from: number, to: number) => Math.max(...samples.slice(from, to).map(({ mebibytes }) => mebibytes))
  return largest(2 * third, samples.length) / largest(third, 2 * third)
}

export const isSteady = (growth: number): boolean => growth <= mostGrowth
