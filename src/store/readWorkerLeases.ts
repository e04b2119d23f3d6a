import type { HostId, WorkerId } from '../model/id.ts'
import type { LeasedWorker } from '../rules/workerLeases.ts'
import type { Database } from './database.ts'

/** The workers that a lease is kept for: not LOST, on hosts that are not removed. In the order of their hosts' ids. */
export async function readWorkerLeases({ prisma }: Database): Promise<LeasedWorker[]> {
  const workers = await prisma.worker.findMany({
    where: { reachability: { not: 'LOST' }, host: { removedAt: null } },
    select: {
      id: true,
      name: true,
      hostId: true,
      reachability: true,
      held: true,
      leaseUntil: true,
      host: { select: { name: true, reachabilitySince: true } },
    },
    orderBy: [{ hostId: 'asc' }, { id: 'asc' }],
  })
  return workers.map(({ id, hostId, host, leaseUntil, ...worker }) => ({
    ...worker,
    id: id as WorkerId,
    hostId: hostId as HostId,
    hostName: host.name,
    hostSince: host.reachabilitySince.getTime(),
    leaseUntil: leaseUntil.getTime(),
  }))
}
