import type { Replica as ReplicaRow } from '../../generated/prisma/client.ts'
import { bounds } from '../../model/bounds.ts'
import type { ReplicaId, WorkerId } from '../../model/id.ts'
import type { LogText } from '../../systems/logs/logText.ts'
import { AllocatedPort } from '../content/content.ts'
import { Blocker } from '../kit/blocker.ts'
import { builder } from '../kit/builder.ts'
import { connectionOf } from '../kit/connection/connection.ts'
import type { Listing } from '../kit/connection/listing.ts'
import { badUserInput } from '../kit/requestErrors.ts'
import { rowType } from '../kit/rowType.ts'
import { Worker } from '../worker/worker.ts'
import { EndReason, LeaveReason, ReplicaState } from './replicaEnums.ts'
import { ReplicaFilter, replicaFilterSql } from './replicaFilter.ts'

const replicas: Listing = {
  name: 'Query.replicas',
  table: 'Replica',
  parent: null,
  order: [{ column: 'id', type: 'text' }],
  descending: true,
}

const ReplicaLog = builder.objectRef<LogText>('ReplicaLog').implement({
  description: "The last lines of a replica's output, as its worker keeps them.",
  fields: (t) => ({
    stdout: t.stringList({ description: 'Lines of standard output, oldest first.', resolve: (log) => log.stdout }),
    stderr: t.stringList({ description: 'Lines of standard error, oldest first.', resolve: (log) => log.stderr }),
    truncated: t.exposeBoolean('truncated', { description: 'Whether there was more than was asked for or is kept.' }),
  }),
})

export const Replica = builder.prismaNode('Replica', {
  id: { field: 'id', description: 'The global id; the replica finds it in XCE_REPLICA_ID.' },
  nullable: true,
  description: 'One ordinary job of a service. What ends is replaced by a new replica, as a rule with the same index.',
  fields: (t) => ({
    service: t.field({
      type: rowType('Service'),
      description: 'The service.',
      resolve: ({ serviceId }, _args, { rows }) => rows.require('Service', serviceId),
    }),
    index: t.exposeInt('index', {
      description:
        'From 0; one active replica of the service has it. During a surge it can be ≥ the desired replicas: it is no shard number.',
    }),
    version: t.field({
      type: rowType('ServiceVersion'),
      description: 'The version under which it was started.',
      resolve: ({ serviceId, versionNumber }, _args, { rows }) =>
        rows.requireNumbered('ServiceVersion', serviceId, versionNumber),
    }),
    state: t.field({
      type: ReplicaState,
      description: 'How far it is. It only moves forward.',
      resolve: (replica) => replica.state,
    }),
    ready: t.exposeBoolean('ready', {
      description: 'Reported ready for this start, its worker reachable, and not stopping.',
    }),
    readySince: t.expose('readySince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when it is ready; null when it is not.',
    }),
    start: t.exposeInt('start', {
      description: 'Which start of its process this is: 1, 2, 3 …; 1 also before the first.',
    }),
    restarts: t.int({ description: 'Restarts in place: start − 1.', resolve: (replica) => replica.start - 1 }),
    leaving: t.field({
      type: LeaveReason,
      nullable: true,
      description: 'Why it will be replaced although its content is current; null when it will not.',
      resolve: (replica) => replica.leaving,
    }),
    host: t.field({
      type: rowType('Host'),
      nullable: true,
      description: 'The host it was placed on; null before.',
      resolve: ({ hostId }, _args, { rows }) => rows.load('Host', hostId),
    }),
    worker: t.field({
      type: Worker,
      nullable: true,
      description: 'The worker that it was placed on last; null before, and when that one is forgotten.',
      resolve: ({ workerId }, _args, { rows }) => rows.load('Worker', workerId),
    }),
    ports: t.field({
      type: [AllocatedPort],
      description: 'The ports it was given; empty before it is placed.',
      resolve: (replica) => replica.ports,
    }),
    pending: t.field({
      type: Blocker,
      nullable: true,
      description: 'Why it is not placed; null once it is.',
      resolve: (replica) => replica.blocker,
    }),
    endReason: t.field({
      type: EndReason,
      nullable: true,
      description: 'Why it ended; null while it has not.',
      resolve: (replica) => replica.endReason,
    }),
    exitCode: t.exposeInt('exitCode', {
      nullable: true,
      description: 'The exit status of its process; null where there is none or it was not seen.',
    }),
    exitSignal: t.exposeString('exitSignal', {
      nullable: true,
      description: 'The signal that ended its process, without SIG, for example KILL; null when none did.',
    }),
    log: t.field({
      type: ReplicaLog,
      nullable: true,
      description:
        'The last lines of its output, asked of its worker now. Null: it was never placed, or its worker is not connected or does not answer in time.',
      args: {
        tailLines: t.arg.int({
          defaultValue: 100,
          description: `Lines of each stream, ${bounds.tailLines.min} to ${bounds.tailLines.max}; otherwise BAD_USER_INPUT.`,
        }),
      },
      resolve: (replica, { tailLines }, { app }) => {
        const lines = tailLines ?? 100
        const { min, max } = bounds.tailLines
        if (lines < min || lines > max) throw badUserInput(`tailLines is ${lines}: give ${min} to ${max}.`)
        return replica.workerId === null
          ? null
          : app.logRequests.request(replica.workerId as WorkerId, replica.id as ReplicaId, lines)
      },
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When its row was made.' }),
    startedAt: t.expose('startedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its worker confirmed its first process; null before.',
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
  replicas: t.connection(
    {
      type: Replica,
      description: 'Replicas of all services, newest first: also ended ones, unless the filter leaves them out.',
      args: { filter: t.arg({ type: ReplicaFilter, description: 'Which ones; left out: all.' }) },
      resolve: (_root, args, context) =>
        connectionOf<ReplicaRow>(context, replicas, null, args, replicaFilterSql(args.filter)),
    },
    ReplicaConnection,
  ),
}))
