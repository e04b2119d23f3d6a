import { Prisma, type Worker as WorkerRow } from '../../generated/prisma/client.ts'
import type { Reachability as Reach } from '../../generated/prisma/enums.ts'
import { endedReason } from '../../model/endedReason.ts'
import { builder } from '../kit/builder.ts'
import { noneLeft } from '../kit/check.ts'
import { connectionOf, type Filtered } from '../kit/connection/connection.ts'
import { orderOf } from '../kit/connection/order.ts'
import { enumOf } from '../kit/enumOf.ts'
import { among, filterDescription, filtered, refuseBadFilter } from '../kit/filter.ts'
import { namedArgs, whereArgs } from '../kit/named.ts'
import { rowType } from '../kit/rowType.ts'

/** What is LOST to the rules is shown as ENDED where the worker said that it ends: nobody has to look after it. */
export type ShownReachability = Reach | 'ENDED'

export const Reachability = enumOf<ShownReachability>(
  'Reachability',
  'Whether the server can reach a host or worker.',
  {
    REACHABLE: 'Its lease is being renewed.',
    UNREACHABLE: 'Its lease is over; its addresses have left the endpoints.',
    LOST: 'Its grace is over too, or an operator confirmed its loss: it is fenced, and its replicas are replaced.',
    ENDED:
      'It ended in order, as after a drain, and ran nothing any more. For what removes a host or worker it counts as LOST.',
  },
)

export const shownReachability = ({
  reachability,
  reason,
}: {
  readonly reachability: Reach
  readonly reason: string | null
}): ShownReachability => (reachability === 'LOST' && reason === endedReason ? 'ENDED' : reachability)
/** The same of a row `t`. */
export const shownReachabilitySql = Prisma.sql`CASE WHEN t.reachability = 'LOST' AND t.reason = ${endedReason} THEN 'ENDED' ELSE t.reachability::text END`

export const Worker = builder.prismaNode('Worker', {
  id: { field: 'id', description: 'The global id.' },
  nullable: true,
  description: 'The program that runs replicas on a host, probes them and restarts them in place.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name that it gave; it is unique.' }),
    host: t.field({
      type: rowType('Host'),
      description: 'The host it runs on.',
      resolve: ({ hostId }, _args, { rows }) => rows.require('Host', hostId),
    }),
    reachability: t.field({
      type: Reachability,
      description: 'Whether the server can reach it.',
      resolve: shownReachability,
    }),
    reachabilitySince: t.expose('reachabilitySince', {
      type: 'DateTime',
      description: 'The instant since which this has been so.',
    }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'A sentence that says why it is not reachable; null when it is.',
    }),
    draining: t.exposeBoolean('draining', {
      description:
        'Whether it is being drained, so that it takes no new replicas and those that it has are replaced elsewhere. The scheduling of its host says whether the whole host is being drained.',
    }),
    cpuMillis: t.exposeInt('cpuMillis', { description: 'CPU it offers, in thousandths of a core.' }),
    memoryMiB: t.exposeInt('memoryMiB', { description: 'Memory it offers, in MiB.' }),
    keptPorts: t.loadable({
      type: 'Int',
      description:
        'Ports that are kept for it while it is LOST. They are free again when it has returned and runs nothing on them, or after removeWorker.',
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
    softwareVersion: t.exposeString('softwareVersion', { description: 'The software version that it reported.' }),
    registeredAt: t.expose('registeredAt', { type: 'DateTime', description: 'When it last registered.' }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime', description: 'When its lease was last renewed.' }),
  }),
})

const WorkerConnection = builder.connectionObject(
  { type: Worker, name: 'WorkerConnection', description: 'Workers by name.' },
  { name: 'WorkerEdge', description: 'A worker and its position.' },
)

interface WorkerFilterValue {
  readonly names?: readonly string[] | null | undefined
  readonly hosts?: readonly string[] | null | undefined
  readonly reachabilities?: readonly ShownReachability[] | null | undefined
}

const WorkerFilter = builder.inputRef<WorkerFilterValue>('WorkerFilter').implement({
  description: filterDescription('workers'),
  fields: (t) => ({
    names: t.stringList({ description: 'Workers with one of these names.' }),
    hosts: t.stringList({ description: 'Workers on a host with one of these names.' }),
    reachabilities: t.field({
      type: [Reachability],
      required: { list: false, items: true },
      description: 'Workers with one of these reachabilities: whether the server can reach them.',
    }),
  }),
})

function workerFilterSql(filter: WorkerFilterValue | null | undefined): Filtered {
  refuseBadFilter('filter', filter)
  const { names, hosts, reachabilities, ...rest } = filter ?? {}
  noneLeft(rest)
  const ofHosts = hosts
    ? [Prisma.sql`t."hostId" IN (SELECT h.id FROM "Host" h WHERE h.name = ANY(${hosts}::text[]))`]
    : []
  return filtered(filter, [
    ...among(Prisma.sql`t.name`, names),
    ...ofHosts,
    ...among(shownReachabilitySql, reachabilities),
  ])
}

const order = orderOf({
  type: 'Worker',
  things: 'workers',
  choices: {
    NAME: { column: 'name', type: 'text', description: 'The name.' },
    REGISTERED_AT: {
      column: 'registeredAt',
      type: 'timestamptz',
      description: 'The instant of its last registration.',
    },
    REACHABILITY: {
      column: 'reachability',
      type: 'Reachability',
      description: 'The reachability, from REACHABLE by UNREACHABLE to LOST, among which are those that have ended.',
    },
  },
  listing: { name: 'Query.workers', table: 'Worker', parent: null },
})

builder.queryFields((t) => ({
  worker: t.prismaField({
    type: 'Worker',
    nullable: true,
    description: 'The worker that has this name or id; null when there is none.',
    args: namedArgs(t.arg, 'Worker'),
    resolve: (query, _root, reference, { app }) => {
      const where = whereArgs('Worker', reference)
      return where === null ? null : app.database.prisma.worker.findFirst({ ...query, where })
    },
  }),
  workers: t.connection(
    {
      type: Worker,
      description: 'All workers of all hosts.',
      args: {
        filter: t.arg({ type: WorkerFilter, description: 'Which ones to return; all when left out.' }),
        orderBy: t.arg({ type: order.input, description: order.description }),
      },
      resolve: (_root, args, context) =>
        connectionOf<WorkerRow>(context, order.listingBy(args.orderBy), null, args, workerFilterSql(args.filter)),
    },
    WorkerConnection,
  ),
}))
