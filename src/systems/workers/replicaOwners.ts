import { addTo } from '../../model/groupBy.ts'
import type { ReplicaId, ServiceId } from '../../model/id.ts'
import type { ReplicaReport, Reporter } from '../../model/intent.ts'
import { isAlive } from '../../model/replica.ts'
import { whereAlive } from '../../store/database/aliveReplica.ts'
import type { Database } from '../../store/database/database.ts'

/** The service and worker of a reported replica. */
export interface ReplicaOwner {
  readonly serviceId: ServiceId
  /** Whether the replica is alive and belongs to the reporting worker, on the host for which that worker speaks. */
  aliveOn(reporter: Pick<Reporter, 'workerId' | 'hostId'>): boolean
}

/** Reads the owners of replicas as the database has them now. Unknown ids are left out. */
export async function ownersOf(
  database: Database,
  ids: readonly ReplicaId[],
): Promise<ReadonlyMap<ReplicaId, ReplicaOwner>> {
  if (ids.length === 0) return new Map()
  const rows = await database.prisma.replica.findMany({
    where: { id: { in: [...ids] } },
    select: { id: true, serviceId: true, hostId: true, workerId: true, state: true },
  })
  return new Map(
    rows.map(({ id, serviceId, hostId, workerId, state }) => [
      id as ReplicaId,
      {
        serviceId: serviceId as ServiceId,
        aliveOn: (reporter) => hostId === reporter.hostId && workerId === reporter.workerId && isAlive({ state }),
      },
    ]),
  )
}

/** Services with alive replicas on a worker, on the host for which it speaks. */
export async function servicesOn(
  database: Database,
  { hostId, workerId }: Pick<Reporter, 'hostId' | 'workerId'>,
): Promise<readonly ServiceId[]> {
  const rows = await database.prisma.replica.findMany({
    where: { hostId, workerId, ...whereAlive },
    select: { serviceId: true },
    distinct: ['serviceId'],
  })
  return rows.map(({ serviceId }) => serviceId as ServiceId)
}

/** Groups the reports of known replicas by service, in the order of their arrival. */
export function reportsByService(
  reports: readonly ReplicaReport[],
  owners: ReadonlyMap<ReplicaId, ReplicaOwner>,
): ReadonlyMap<ServiceId, readonly ReplicaReport[]> {
  const groups = new Map<ServiceId, ReplicaReport[]>()
  for (const report of reports) {
    const owner = owners.get(report.replica)
    if (owner !== undefined) addTo(groups, owner.serviceId, report)
  }
  return groups
}
