import type { ReplicaId, ServiceId } from '../../model/id.ts'
import { whereAlive } from '../database/aliveReplica.ts'
import type { Database } from '../database/database.ts'

/** The replicas of a service that have not ended, by id. */
export async function readAliveReplicas({ prisma }: Database, serviceId: ServiceId): Promise<readonly ReplicaId[]> {
  const rows = await prisma.replica.findMany({
    where: { serviceId, ...whereAlive },
    select: { id: true },
    orderBy: { id: 'asc' },
  })
  return rows.map(({ id }) => id as ReplicaId)
}
