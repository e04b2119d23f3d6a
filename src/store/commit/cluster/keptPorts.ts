import type { Worker } from '../../../generated/prisma/client.ts'
import type { HostId, WorkerId } from '../../../model/id.ts'
import { isAliveSql } from '../../database/aliveReplica.ts'
import type { Database } from '../../database/database.ts'

/**
 * Returns the LOST ones of these workers that still have replicas or kept ports. One statement reads both, because the
 * ports of a replica that ends are then kept.
 */
export async function readKeptFor({ prisma }: Database, workers: readonly Worker[]): Promise<ReadonlySet<string>> {
  const lost = workers.flatMap(({ id, reachability }) => (reachability === 'LOST' ? [id] : []))
  if (lost.length === 0) return new Set()
  const kept = await prisma.$queryRaw<{ id: string }[]>`
    SELECT w."id" FROM "Worker" w WHERE w."id" = ANY (${lost}) AND (
      EXISTS (SELECT FROM "HostPort" p WHERE p."lostWorkerId" = w."id")
      OR EXISTS (SELECT FROM "Replica" r WHERE r."workerId" = w."id" AND r."hostId" IS NOT NULL
        AND ${isAliveSql}))`
  return new Set(kept.map(({ id }) => id))
}

/** Returns other hosts that keep ports for a worker, because it was LOST there and has not been clean since. */
export function readKeptElsewhere(
  { prisma }: Database,
  { workerId, hostId }: { readonly workerId: WorkerId; readonly hostId: HostId },
): Promise<readonly { readonly id: HostId; readonly name: string }[]> {
  return prisma.$queryRaw`
    SELECT DISTINCT h."id", h."name" FROM "HostPort" p JOIN "Host" h ON h."id" = p."hostId"
    WHERE p."lostWorkerId" = ${workerId} AND h."id" <> ${hostId} ORDER BY h."name"`
}
