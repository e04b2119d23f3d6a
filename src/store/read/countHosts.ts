import type { Database } from '../database/database.ts'

/** How many hosts are LOST, UNREACHABLE, DRAINING, CORDONED or OPEN: each is counted once, by the first of these that it is. Removed ones are none. */
export async function countHosts({ prisma }: Database): Promise<Readonly<Record<string, number>>> {
  const rows = await prisma.$queryRaw<{ state: string; count: number }[]>`
    SELECT CASE "reachability" WHEN 'REACHABLE' THEN "scheduling"::text ELSE "reachability"::text END AS state, count(*)::int AS count
    FROM "Host" WHERE "removedAt" IS NULL GROUP BY 1`
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}
