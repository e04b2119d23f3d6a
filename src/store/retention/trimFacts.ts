import type { Instant, Revision } from '../../model/id.ts'
import type { FactRetention } from '../../model/retention.ts'
import { nextFloor } from '../../rules/retention/factFloor.ts'
import type { Database } from '../database/database.ts'

interface Row {
  readonly head: string
  readonly floor: string
  readonly now: number
  readonly revision: string | null
  readonly at: number | null
}

/** The log is sampled at this many positions, but at most at every `leastStep`th fact. */
const places = 100
const leastStep = 1_000

// Revisions are gapless, so positions are found by counting. The first revision that could ever be the floor is always
// one of them.
const samplesText = `
WITH log AS MATERIALIZED (SELECT "head", "floor", greatest(${leastStep}, ("head" - "floor") / ${places}) AS step FROM "Feed" WHERE "id" = 1)
SELECT l."head"::text AS head, l."floor"::text AS floor, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
  f."revision"::text AS revision, (extract(epoch FROM f."at") * 1000)::float8 AS at
FROM log l LEFT JOIN LATERAL (
  SELECT t."revision", t."at" FROM (
    SELECT generate_series(l."floor" + l.step, l."head", l.step) AS place UNION SELECT l."head" - $1::bigint) p
  JOIN "Fact" t ON t."revision" = p.place) f ON true`

/**
 * Moves the floor of the fact log to where the retention wants it, in a transaction of its own. From then on nobody
 * reads the facts below it, so they can be deleted later. The counter row is held for this one statement only. Returns
 * whether the floor moved.
 */
export async function moveFloor({ prisma }: Database, retention: FactRetention): Promise<boolean> {
  const rows = await prisma.$queryRawUnsafe<Row[]>(samplesText, retention.kept)
  const [first] = rows
  if (!first) throw new Error('The database has no fact log: its table Feed is empty.')
  const floor = BigInt(first.floor)
  const samples = rows.flatMap(({ revision, at }): { revision: Revision; at: Instant }[] =>
    revision === null || at === null ? [] : [{ revision: BigInt(revision), at }],
  )
  const next = nextFloor({ head: BigInt(first.head), floor, samples }, retention, first.now)
  if (next === floor) return false
  return (await prisma.$executeRaw`UPDATE "Feed" SET "floor" = ${next} WHERE "id" = 1 AND "floor" < ${next}`) > 0
}
