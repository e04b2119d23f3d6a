import type { HostId, WorkerId } from '../../model/id.ts'
import type { LeasedWorker } from '../../rules/hosts/workerLeases.ts'
import type { Database } from '../database/database.ts'

/**
 * The workers that have a lease, and those that an operator declared LOST, on hosts that are not removed, in the order
 * of their hosts' ids.
 */
export async function readWorkerLeases({ prisma }: Database): Promise<LeasedWorker[]> {
  const workers = await prisma.worker.findMany({
    where: { OR: [{ reachability: { not: 'LOST' } }, { held: true }], host: { removedAt: null } },
    select: {
      id: true,
      name: true,
      hostId: true,
      reachability: true,
      reachabilitySince: true,
      held: true,
      leaseUntil: true,
      draining: true,
      host: { select: { name: true, reachabilitySince: true, scheduling: true } },
    },
    orderBy: [{ hostId: 'asc' }, { id: 'asc' }],
  })
  return workers.map(({ id, hostId, host, reachabilitySince, leaseUntil, draining, ...worker }) => ({
    ...worker,
    id: id as WorkerId,
    hostId: hostId as HostId,
    hostName: host.name,
    draining: draining || host.scheduling === 'DRAINING',
    hostSince: host.reachabilitySince.getTime(),
    since: reachabilitySince.getTime(),
    leaseUntil: leaseUntil.getTime(),
  }))
}
