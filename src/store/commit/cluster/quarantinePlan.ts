import { listed } from '../../../model/listed.ts'
import type { Database } from '../../database/database.ts'
import type { EndQuarantine } from '../outcome.ts'
import { type ClusterWritePlan, factOfHost } from './clusterFacts.ts'

/** Ends the quarantine of ports that a worker has seen free, and wakes placement for who waits for them (R13). */
export async function planEndOfQuarantine({ prisma }: Database, change: EndQuarantine): Promise<ClusterWritePlan> {
  const { hostId, ports, actor } = change
  const found = await prisma.hostPort.findMany({
    where: {
      hostId,
      quarantinedUntil: { not: null },
      OR: ports.map(({ port, protocol }) => ({ port, protocol })),
    },
    include: { host: { select: { name: true } } },
    orderBy: [{ port: 'asc' }, { protocol: 'asc' }],
  })
  const [first] = found
  if (first === undefined) return { write: null, outcome: { kind: 'host', hostId, changed: false } }
  const names = listed(found.map(({ port, protocol }) => (protocol === 'TCP' ? `${port}` : `${port}/udp`)))
  const message =
    found.length === 1
      ? `Port ${names} of host ${first.host.name} is not used by another program any more: its quarantine is over.`
      : `Ports ${names} of host ${first.host.name} are not used by other programs any more: their quarantine is over.`
  return {
    write: {
      table: 'quarantine',
      row: { hostId, ports: found.map(({ port, protocol }) => ({ port, protocol })) },
      fact: factOfHost(hostId, message, actor, { wakesPlacement: true }),
    },
    outcome: { kind: 'host', hostId, changed: true },
  }
}
