import type { HostId } from '../../model/id.ts'
import type { Database } from '../database/database.ts'

/** Finds the hosts that keep ports, on this host or another, for workers that are forgotten or no longer LOST (R15). */
export async function readFreeable({ prisma }: Database): Promise<readonly HostId[]> {
  const rows = await prisma.$queryRaw<{ id: HostId }[]>`
    SELECT DISTINCT p."hostId" AS id FROM "HostPort" p JOIN "Host" h ON h."id" = p."hostId" AND h."removedAt" IS NULL
      LEFT JOIN "Worker" w ON w."id" = p."lostWorkerId"
    WHERE p."lostWorkerId" IS NOT NULL AND w."reachability" IS DISTINCT FROM 'LOST' ORDER BY 1`
  return rows.map(({ id }) => id)
}
