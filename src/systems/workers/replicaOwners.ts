import { addTo } from '../../model/groupBy.ts'
import type { ReplicaId, ServiceId } from '../../model/id.ts'
import type { ReplicaReport, Reporter } from '../../model/intent.ts'
import type { Database } from '../../store/database/database.ts'

/** Whose a reported replica is. */
export interface ReplicaOwner {
  readonly serviceId: ServiceId
  /** Whether it has not ended and is the reporter's, on the host that this one speaks for. */
  aliveOn(reporter: Pick<Reporter, 'workerId' | 'hostId'>): boolean
}

/** The owners of replicas, as the database has them now; unknown ids are left out. */
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
        aliveOn: (reporter) => hostId === reporter.hostId && workerId === reporter.workerId && state !== 'ENDED',
      },
    ]),
  )
}

/** Services that have replicas on a worker, on the host that it speaks for, that have not ended. */
export async function servicesOn(
  database: Database,
  { hostId, workerId }: Pick<Reporter, 'hostId' | 'workerId'>,
): Promise<readonly ServiceId[]> {
  const rows = await database.prisma.replica.findMany({
    where: { hostId, workerId, state: { in: ['PENDING', 'STARTING', 'RUNNING', 'STOPPING'] } },
    select: { serviceId: true },
    distinct: ['serviceId'],
  })
  return rows.map(({ serviceId }) => serviceId as ServiceId)
}

/** Reports of known replicas, by service, in the order they came in. */
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
