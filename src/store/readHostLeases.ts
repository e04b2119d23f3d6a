import type { HostId } from '../model/id.ts'
import type { LeasedHost } from '../rules/hostLife.ts'
import type { Database } from './database.ts'

/** The hosts that a lease is kept for: neither LOST nor removed. In the order of their ids. */
export async function readHostLeases({ prisma }: Database): Promise<LeasedHost[]> {
  const hosts = await prisma.host.findMany({
    where: { removedAt: null, reachability: { not: 'LOST' } },
    select: {
      id: true,
      name: true,
      reachability: true,
      reachabilitySince: true,
      reason: true,
      workers: { select: { leaseUntil: true } },
    },
    orderBy: { id: 'asc' },
  })
  return hosts.map(({ workers, id, reachabilitySince, ...host }) => ({
    ...host,
    id: id as HostId,
    reachabilitySince: reachabilitySince.getTime(),
    leaseUntil: workers.length === 0 ? null : Math.max(...workers.map(({ leaseUntil }) => leaseUntil.getTime())),
  }))
}
