import type { ServiceId } from '../../model/id.ts'
import type { Reporter } from '../../model/intent.ts'
import { isAliveSql } from '../database/aliveReplica.ts'
import type { Database } from '../database/database.ts'

/**
 * Finds the services that the registration of a worker concerns: they have replicas on it, or list other addresses of
 * its host (R12, R15).
 */
export async function readAdopters(
  { prisma }: Database,
  { hostId, workerId }: Reporter,
): Promise<readonly ServiceId[]> {
  const rows = await prisma.$queryRaw<{ serviceId: ServiceId }[]>`
    SELECT DISTINCT r."serviceId" FROM "Host" h JOIN "Replica" r ON r."hostId" = h."id" AND ${isAliveSql}
    WHERE h."id" = ${hostId} AND (r."workerId" = ${workerId} OR r."hostAddresses" IS DISTINCT FROM h."addresses")`
  return rows.map(({ serviceId }) => serviceId)
}
