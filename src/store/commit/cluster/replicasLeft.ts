import { whereAlive } from '../../database/aliveReplica.ts'
import type { Database } from '../../database/database.ts'

/** How many replicas that have not ended are on the host, or on the worker. */
export function countReplicasLeft(
  { prisma }: Database,
  where: { readonly hostId: string } | { readonly workerId: string },
): Promise<number> {
  return prisma.replica.count({
    where: { hostId: { not: null }, ...where, ...whereAlive },
  })
}
