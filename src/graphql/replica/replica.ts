import type { Replica as ReplicaRow } from '../../generated/prisma/client.ts'
import { endMessageOf } from '../../model/endMessage.ts'
import { AllocatedPort } from '../content/content.ts'
import { ReplicaExit, ReplicaProbe } from '../content/lastProbe.ts'
import { Blocker } from '../kit/blocker.ts'
import { builder } from '../kit/builder.ts'
import { connectionOf } from '../kit/connection/connection.ts'
import type { Listing } from '../kit/connection/listing.ts'
import { rowType } from '../kit/rowType.ts'
import { ServiceReference } from '../kit/serviceReference.ts'
import { Worker } from '../worker/worker.ts'
import { EndReason, LeaveReason, ReplicaState } from './replicaEnums.ts'
import { ReplicaFilter, replicaFilterSql } from './replicaFilter.ts'
import { findReplica, refuseBadReplica } from './replicaReference.ts'

const replicas: Listing = {
  name: 'Query.replicas',
  table: 'Replica',
  parent: null,
  order: [{ column: 'id', type: 'text' }],
  descending: true,
}

export const Replica = builder.prismaNode('Replica', {
  id: { field: 'id', description: 'The global id; the replica finds it in XCE_REPLICA_ID.' },
  nullable: true,
  description:
    'One ordinary job of a service. A replica that ends is replaced by a new one, as a rule with the same index.',
  fields: (t) => ({
    service: t.field({
      type: rowType('Service'),
      description: 'The service.',
      resolve: ({ serviceId }, _args, { rows }) => rows.require('Service', serviceId),
    }),
    index: t.exposeInt('index', {
      description:
        'Its number within the service, from 0. Only one active replica of the service has it. It is not a shard number, because during a surge it can be equal to or higher than the desired replicas.',
    }),
    version: t.field({
      type: rowType('ServiceVersion'),
      description: 'The version under which it was started.',
      resolve: ({ serviceId, versionNumber }, _args, { rows }) =>
        rows.requireNumbered('ServiceVersion', serviceId, versionNumber),
    }),
    state: t.field({
      type: ReplicaState,
      description: 'Its state, which only moves forward.',
      resolve: (replica) => replica.state,
    }),
    ready: t.exposeBoolean('ready', {
      description:
        'Whether its worker is reachable and has reported this start as ready, and the replica is not stopping.',
    }),
    readySince: t.expose('readySince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when it is ready; null when it is not.',
    }),
    start: t.exposeInt('start', {
      description: 'The number of the present start of its process: 1, 2, 3 …. It is 1 also before the first start.',
    }),
    restarts: t.int({
      description: 'How many times it was restarted in place, which is start − 1.',
      resolve: (replica) => replica.start - 1,
    }),
    leaving: t.field({
      type: LeaveReason,
      nullable: true,
      description: 'Why it will be replaced although its content is current; null when it will not.',
      resolve: (replica) => replica.leaving,
    }),
    host: t.field({
      type: rowType('Host'),
      nullable: true,
      description: 'The host that it was placed on; null before its placement.',
      resolve: ({ hostId }, _args, { rows }) => rows.load('Host', hostId),
    }),
    worker: t.field({
      type: Worker,
      nullable: true,
      description:
        'The worker that it was placed on last; null before its placement, and when that worker is no longer kept.',
      resolve: ({ workerId }, _args, { rows }) => rows.load('Worker', workerId),
    }),
    ports: t.field({
      type: [AllocatedPort],
      description: 'The ports it was given; empty before it is placed.',
      resolve: (replica) => replica.ports,
    }),
    blocker: t.field({
      type: Blocker,
      nullable: true,
      description: 'Why it is not placed; null once it is placed.',
      resolve: (replica) => replica.blocker,
    }),
    endReason: t.field({
      type: EndReason,
      nullable: true,
      description: 'Why it ended; null while it has not.',
      resolve: (replica) => replica.endReason,
    }),
    endMessage: t.string({
      nullable: true,
      description:
        'A sentence that says how or why it ended, for example "It ended: the process exited with code 3."; null while it has not.',
      resolve: endMessageOf,
    }),
    exitCode: t.exposeInt('exitCode', {
      nullable: true,
      description: 'The exit status of its process; null where there is none or it was not seen.',
    }),
    exitSignal: t.exposeString('exitSignal', {
      nullable: true,
      description: 'The signal that ended its process, without SIG, for example KILL; null when none did.',
    }),
    lastProbe: t.field({
      type: ReplicaProbe,
      nullable: true,
      description:
        'What its worker told last of the probes of this start: one that fails before one that succeeds. Null: nothing yet, which is usual in the first 5 s.',
      resolve: (replica) => replica.lastProbe,
    }),
    lastExit: t.field({
      type: ReplicaExit,
      nullable: true,
      description: 'How its process ended last, also before a restart in place; null while none has ended.',
      resolve: (replica) => replica.lastExit,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'The instant at which it was created.' }),
    startedAt: t.expose('startedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its worker confirmed the process of its present start; null before.',
    }),
    endedAt: t.expose('endedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its end was confirmed; null before.',
    }),
  }),
})

export const ReplicaConnection = builder.connectionObject(
  { type: Replica, name: 'ReplicaConnection', description: 'Replicas, newest first.' },
  { name: 'ReplicaEdge', description: 'A replica and its position.' },
)

builder.queryFields((t) => ({
  replica: t.field({
    type: Replica,
    nullable: true,
    description:
      'The replica that has this id, or has this index in the service and is not stopping; null when there is none.',
    args: {
      id: t.arg.id({ description: 'The id of the replica. Give it, or service and index.' }),
      service: t.arg({ type: ServiceReference, description: 'The service of the replica. Give it with index.' }),
      index: t.arg.int({ description: 'The index of the replica in its service. Give it with service.' }),
    },
    resolve: async (_root, reference, { app, rows }) => {
      refuseBadReplica(reference)
      const found = await findReplica(app, reference)
      return found === null ? null : rows.load('Replica', found.replicaId)
    },
  }),
  replicas: t.connection(
    {
      type: Replica,
      description:
        'Replicas of all services, newest first, with those that have ended unless the filter leaves them out.',
      args: { filter: t.arg({ type: ReplicaFilter, description: 'Which ones to return; all when left out.' }) },
      resolve: (_root, args, context) =>
        connectionOf<ReplicaRow>(context, replicas, null, args, replicaFilterSql(args.filter)),
    },
    ReplicaConnection,
  ),
}))
