import { endedReason } from '../../model/endedReason.ts'
import type { Database } from '../database/database.ts'

// What a server's gauges show of the database.

/**
 * Counts hosts that are LOST, UNREACHABLE, ENDED, DRAINED, DRAINING, CORDONED or OPEN, as the API shows them. Each host
 * counts once, by the first of these that it is. Removed hosts do not count.
 */
export async function countHosts({ prisma }: Database): Promise<Readonly<Record<string, number>>> {
  const rows = await prisma.$queryRaw<{ state: string; count: number }[]>`
    SELECT CASE
        WHEN "reachability" = 'LOST' AND "reason" = ${endedReason} THEN 'ENDED'
        WHEN "reachability" <> 'REACHABLE' THEN "reachability"::text
        WHEN "scheduling" = 'DRAINING' AND "usedCpuMillis" = 0 THEN 'DRAINED'
        ELSE "scheduling"::text END AS state,
      count(*)::int AS count
    FROM "Host" WHERE "removedAt" IS NULL GROUP BY 1`
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

/** Counts replicas that are not placed, by the reason of their blocker. */
export async function countWaiting({ prisma }: Database): Promise<Readonly<Record<string, number>>> {
  const rows = await prisma.$queryRaw<{ reason: string; count: number }[]>`
    SELECT coalesce("blocker" ->> 'reason', 'QUEUED') AS reason, count(*)::int AS count FROM "Replica" WHERE "state" = 'PENDING' GROUP BY 1`
  return Object.fromEntries(rows.map(({ reason, count }) => [reason, count]))
}

/** Counts timers that are due by the database's clock. */
export async function countDue({ prisma }: Database): Promise<number> {
  const [row] = await prisma.$queryRaw<
    { due: number }[]
  >`SELECT count(*)::int AS due FROM "Timer" WHERE "dueAt" <= clock_timestamp()`
  return row?.due ?? 0
}
