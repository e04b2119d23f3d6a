import type { HostId } from '../../model/id.ts'
import type { Database } from '../database/database.ts'

/** The hosts that keep ports for workers which are forgotten, or not LOST any more: on this host or on another one (R15). */
export async function readFreeable({ prisma }: Database): Promise<readonly HostId[]> {
  const rows = await prisma.$queryRaw<{ id: HostId }[]>`
    SELECT DISTINCT p."hostId" AS id FROM "HostPort" p JOIN "Host" h ON h."id" = p."hostId" AND h."removedAt" IS NULL
      LEFT JOIN "Worker" w ON w."id" = p."lostWorkerId"
    WHERE p."lostWorkerId" IS NOT NULL AND w."reachability" IS DISTINCT FROM 'LOST' ORDER BY 1`
  return rows.map(({ id }) => id)
}
