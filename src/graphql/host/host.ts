import type { Host as HostRow, Replica as ReplicaRow } from '../../generated/prisma/client.ts'
import { groupBy } from '../../model/groupBy.ts'
import { PortRange } from '../content/content.ts'
import { builder } from '../kit/builder.ts'
import { connectionOf } from '../kit/connection/connection.ts'
import type { Listing } from '../kit/connection/listing.ts'
import { orderOf } from '../kit/connection/order.ts'
import { namedArgs, whereArgs } from '../kit/named.ts'
import { Replica, ReplicaConnection } from '../replica/replica.ts'
import { Reachability, shownReachability, Worker } from '../worker/worker.ts'
import { HostFilter, HostScheduling, hostFilterSql, shownScheduling } from './hostFilter.ts'

const replicasOfHost: Listing = {
  name: 'Host.replicas',
  table: 'Replica',
  parent: 'hostId',
  order: [{ column: 'id', type: 'text' }],
  descending: true,
}

export const Host = builder.prismaNode('Host', {
  id: { field: 'id', description: 'The global id.' },
  nullable: true,
  description: 'A machine that replicas run on.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name that its workers gave it; it is unique.' }),
    addresses: t.exposeStringList('addresses', {
      description: 'The addresses that one of its workers reported last. Endpoints list the first one.',
    }),
    scheduling: t.field({
      type: HostScheduling,
      description: 'Whether operators let it take replicas, and the progress of a drain.',
      resolve: shownScheduling,
    }),
    schedulingSince: t.expose('schedulingSince', {
      type: 'DateTime',
      description: 'The instant since which this has been so.',
    }),
    reachability: t.field({
      type: Reachability,
      description: 'Whether the server can reach it: the best state of its workers.',
      resolve: shownReachability,
    }),
    reachabilitySince: t.expose('reachabilitySince', {
      type: 'DateTime',
      description: 'The instant since which this has been so.',
    }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'A sentence that says why it is not both open and reachable; null when it is.',
    }),
    workers: t.loadableList({
      type: Worker,
      description: 'The workers that registered on it, in the order of their names.',
      loaderOptions: { cache: false },
      load: async (ids: string[], { app }) => {
        const where = { hostId: { in: ids } }
        const workers = await app.database.prisma.worker.findMany({ where, orderBy: { name: 'asc' } })
        const byHost = groupBy(workers, ({ hostId }) => hostId)
        return ids.map((id) => byHost.get(id) ?? [])
      },
      resolve: (host) => host.id,
    }),
    cpuMillis: t.exposeInt('cpuMillis', {
      description: 'The CPU that its workers offer, in thousandths of a core. LOST workers offer nothing.',
    }),
    memoryMiB: t.exposeInt('memoryMiB', {
      description: 'The memory that its workers offer, in MiB. LOST workers offer nothing.',
    }),
    usedCpuMillis: t.exposeInt('usedCpuMillis', { description: 'Of that, what replicas hold.' }),
    usedMemoryMiB: t.exposeInt('usedMemoryMiB', { description: 'Of that, what replicas hold.' }),
    portRange: t.field({
      type: PortRange,
      description: 'The range from which replicas get ports without a fixed number.',
      resolve: (host) => ({ from: host.portFrom, to: host.portTo }),
    }),
    usedPorts: t.exposeInt('usedPorts', { description: 'The ports that replicas hold.' }),
    quarantinedPorts: t.loadableList({
      type: 'Int',
      description:
        'Ports that another program was found to use, in ascending order. They are given to no replica for a while.',
      loaderOptions: { cache: false },
      load: async (ids: string[], { app }) => {
        const rows = await app.database.prisma.hostPort.findMany({
          where: { hostId: { in: ids }, quarantinedUntil: { gt: new Date(app.clock.now()) } },
          orderBy: { port: 'asc' },
        })
        return ids.map((id) => [...new Set(rows.filter((row) => row.hostId === id).map((row) => row.port))])
      },
      resolve: (host) => host.id,
    }),
    replicas: t.connection(
      {
        type: Replica,
        description:
          'The replicas that were placed on it, newest first, with those that have ended. This needs the role admin.',
        authScopes: { admin: true },
        resolve: (host, args, context) => connectionOf<ReplicaRow>(context, replicasOfHost, host.id, args),
      },
      ReplicaConnection,
    ),
  }),
})

const HostConnection = builder.connectionObject(
  { type: Host, name: 'HostConnection', description: 'Hosts by name.' },
  { name: 'HostEdge', description: 'A host and its position.' },
)

const order = orderOf({
  type: 'Host',
  things: 'hosts',
  choices: {
    NAME: { column: 'name', type: 'text', description: 'The name.' },
    CREATED_AT: { column: 'createdAt', type: 'timestamptz', description: 'The instant of its first registration.' },
    REACHABILITY: {
      column: 'reachability',
      type: 'Reachability',
      description: 'The reachability, from REACHABLE by UNREACHABLE to LOST, among which are those that have ended.',
    },
  },
  listing: { name: 'Query.hosts', table: 'Host', parent: null },
})

builder.queryFields((t) => ({
  host: t.prismaField({
    type: 'Host',
    nullable: true,
    description: 'The host that has this name or id; null when there is none.',
    args: namedArgs(t.arg, 'Host'),
    resolve: (query, _root, reference, { app }) => {
      const where = whereArgs('Host', reference)
      return where === null
        ? null
        : app.database.prisma.host.findFirst({ ...query, where: { ...where, removedAt: null } })
    },
  }),
  hosts: t.connection(
    {
      type: Host,
      description: 'All hosts.',
      args: {
        filter: t.arg({ type: HostFilter, description: 'Which ones to return; all when left out.' }),
        orderBy: t.arg({ type: order.input, description: order.description }),
      },
      resolve: (_root, args, context) =>
        connectionOf<HostRow>(context, order.listingBy(args.orderBy), null, args, hostFilterSql(args.filter)),
    },
    HostConnection,
  ),
}))
