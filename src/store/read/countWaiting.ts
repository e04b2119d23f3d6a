import type { Database } from '../database/database.ts'

/** How many replicas are not placed, by the reason of their blocker. */
export async function countWaiting({ prisma }: Database): Promise<Readonly<Record<string, number>>> {
  const rows = await prisma.$queryRaw<{ reason: string; count: number }[]>`
    SELECT coalesce("pending" ->> 'reason', 'QUEUED') AS reason, count(*)::int AS count FROM "Replica" WHERE "state" = 'PENDING' GROUP BY 1`
  return Object.fromEntries(rows.map(({ reason, count }) => [reason, count]))
}
