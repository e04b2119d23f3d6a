import { whereAlive } from '../../database/aliveReplica.ts'
import type { Database } from '../../database/database.ts'

/** Counts the replicas on the host, or on the worker, that have not ended. */
export function countReplicasLeft(
  { prisma }: Database,
  where: { readonly hostId: string } | { readonly workerId: string },
): Promise<number> {
  return prisma.replica.count({
    where: { hostId: { not: null }, ...where, ...whereAlive },
  })
}
