import type { Reachability as Reach } from '../../generated/prisma/enums.ts'
import { builder } from '../kit/builder.ts'
import { enumOf } from '../kit/enumOf.ts'
import { rowType } from '../kit/rowType.ts'

export const Reachability = enumOf<Reach>('Reachability', 'What the system sees of a host or worker.', {
  REACHABLE: 'Its lease is kept.',
  UNREACHABLE: 'Its lease is over; its addresses have left the endpoints.',
  LOST: 'Its grace is over as well: it is fenced, its replicas are replaced.',
})

export const Worker = builder.prismaNode('Worker', {
  id: { field: 'id', description: 'The global id.' },
  nullable: true,
  description: 'The program that runs replicas on a host, probes them and restarts them in place.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name it gave; unique.' }),
    host: t.field({
      type: rowType('Host'),
      description: 'The host it runs on.',
      resolve: ({ hostId }, _args, { rows }) => rows.require('Host', hostId),
    }),
    reachability: t.field({
      type: Reachability,
      description: 'What the system sees of it.',
      resolve: (worker) => worker.reachability,
    }),
    reachabilitySince: t.expose('reachabilitySince', { type: 'DateTime', description: 'Since when.' }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'Why it is not reachable, as a sentence; null when there is nothing to say.',
    }),
    draining: t.exposeBoolean('draining', {
      description:
        'It is to end: it takes no new replicas, and those it has are replaced elsewhere. Of a host that is drained: see its scheduling.',
    }),
    cpuMillis: t.exposeInt('cpuMillis', { description: 'CPU it offers, in thousandths of a core.' }),
    memoryMiB: t.exposeInt('memoryMiB', { description: 'Memory it offers, in MiB.' }),
    keptPorts: t.loadable({
      type: 'Int',
      description:
        'Ports that are kept for it while it is LOST, until it is back and runs nothing of them, or removeWorker.',
      loaderOptions: { cache: false },
      load: async (ids: string[], { app }) => {
        const counts = await app.database.prisma.hostPort.groupBy({
          by: ['lostWorkerId'],
          where: { lostWorkerId: { in: ids } },
          _count: true,
        })
        return ids.map((id) => counts.find(({ lostWorkerId }) => lostWorkerId === id)?._count ?? 0)
      },
      resolve: (worker) => worker.id,
    }),
    softwareVersion: t.exposeString('softwareVersion', { description: 'Its version, as it says.' }),
    registeredAt: t.expose('registeredAt', { type: 'DateTime', description: 'When it last registered.' }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime', description: 'When its lease was last renewed.' }),
  }),
})
