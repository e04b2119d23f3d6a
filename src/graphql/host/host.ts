import { type Host as HostRow, Prisma, type Replica as ReplicaRow } from '../../generated/prisma/client.ts'
import type { Reachability as Reach, HostScheduling as Scheduling } from '../../generated/prisma/enums.ts'
import { groupBy } from '../../model/groupBy.ts'
import { PortRange } from '../content/content.ts'
import { builder } from '../kit/builder.ts'
import { connectionOf, type Filtered } from '../kit/connection/connection.ts'
import type { Listing } from '../kit/connection/listing.ts'
import { enumOf } from '../kit/enumOf.ts'
import { storable } from '../kit/storableText.ts'
import { Replica, ReplicaConnection } from '../replica/replica.ts'
import { Reachability, Worker } from '../worker/worker.ts'

const hosts: Listing = {
  name: 'Query.hosts',
  table: 'Host',
  parent: null,
  order: [{ column: 'name', type: 'text' }],
  descending: false,
}
const replicasOfHost: Listing = {
  name: 'Host.replicas',
  table: 'Replica',
  parent: 'hostId',
  order: [{ column: 'id', type: 'text' }],
  descending: true,
}

const HostScheduling = enumOf<Scheduling>('HostScheduling', 'What operators want of a host.', {
  OPEN: 'It takes replicas.',
  CORDONED: 'It takes no new ones.',
  DRAINING: 'It takes no new ones, and those it has are replaced elsewhere.',
})

export const Host = builder.prismaNode('Host', {
  id: { field: 'id', description: 'The global id.' },
  nullable: true,
  description: 'A machine that replicas run on.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name its workers gave; unique.' }),
    addresses: t.exposeStringList('addresses', {
      description: 'Its addresses, as a worker of it told them last; endpoints list the first one.',
    }),
    scheduling: t.field({
      type: HostScheduling,
      description: 'What operators want.',
      resolve: (host) => host.scheduling,
    }),
    schedulingSince: t.expose('schedulingSince', { type: 'DateTime', description: 'Since when they want it.' }),
    reachability: t.field({
      type: Reachability,
      description: 'What the system sees: the best of its workers.',
      resolve: (host) => host.reachability,
    }),
    reachabilitySince: t.expose('reachabilitySince', { type: 'DateTime', description: 'Since when it sees it.' }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'Why it is not simply open and reachable, as a sentence; null when there is nothing to say.',
    }),
    workers: t.loadableList({
      type: Worker,
      description: 'The workers that registered on it, by name.',
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
      description: 'CPU that its workers offer, in thousandths of a core; LOST ones offer nothing.',
    }),
    memoryMiB: t.exposeInt('memoryMiB', {
      description: 'Memory that its workers offer, in MiB; LOST ones offer nothing.',
    }),
    usedCpuMillis: t.exposeInt('usedCpuMillis', { description: 'Of that, what replicas hold.' }),
    usedMemoryMiB: t.exposeInt('usedMemoryMiB', { description: 'Of that, what replicas hold.' }),
    portRange: t.field({
      type: PortRange,
      description: 'The ports that "any free" comes from.',
      resolve: (host) => ({ from: host.portFrom, to: host.portTo }),
    }),
    usedPorts: t.exposeInt('usedPorts', { description: 'Ports that replicas hold.' }),
    quarantinedPorts: t.loadableList({
      type: 'Int',
      description: 'Ports that something else was found to use and that are not given for a while, ascending.',
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
        description: 'The replicas that were placed on it, newest first, also ended ones. Needs the role admin.',
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

interface HostFilterValue {
  readonly scheduling?: Scheduling | null | undefined
  readonly reachability?: Reach | null | undefined
}

const HostFilter = builder.inputRef<HostFilterValue>('HostFilter').implement({
  description: 'Which hosts: all conditions that are given hold.',
  fields: (t) => ({
    scheduling: t.field({ type: HostScheduling, description: 'What operators want of it.' }),
    reachability: t.field({ type: Reachability, description: 'What the system sees of it.' }),
  }),
})

function hostFilterSql(filter: HostFilterValue | null | undefined): Filtered {
  const conditions: Prisma.Sql[] = [Prisma.sql`t."removedAt" IS NULL`]
  if (filter?.scheduling) conditions.push(Prisma.sql`t.scheduling = ${filter.scheduling}::text::"HostScheduling"`)
  if (filter?.reachability) conditions.push(Prisma.sql`t.reachability = ${filter.reachability}::text::"Reachability"`)
  return { sql: Prisma.join(conditions, ' AND '), key: JSON.stringify(filter ?? null) }
}

builder.queryFields((t) => ({
  host: t.prismaField({
    type: 'Host',
    nullable: true,
    description: 'The host of this name; null when there is none.',
    args: { name: t.arg.string({ required: true, description: "The host's name." }) },
    resolve: (query, _root, { name }, { app }) =>
      storable(name) ? app.database.prisma.host.findFirst({ ...query, where: { name, removedAt: null } }) : null,
  }),
  hosts: t.connection(
    {
      type: Host,
      description: 'All hosts by name.',
      args: { filter: t.arg({ type: HostFilter, description: 'Which ones; left out: all.' }) },
      resolve: (_root, args, context) => connectionOf<HostRow>(context, hosts, null, args, hostFilterSql(args.filter)),
    },
    HostConnection,
  ),
}))
