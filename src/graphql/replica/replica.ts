import type { Replica as ReplicaRow } from '../../generated/prisma/client.ts'
import { bounds } from '../../model/bounds.ts'
import type { ReplicaId, WorkerId } from '../../model/id.ts'
import { type LogLine as LogLineValue, type LogText, linesOf } from '../../systems/logs/logText.ts'
import { AllocatedPort } from '../content/content.ts'
import { ReplicaExit, ReplicaProbe } from '../content/lastProbe.ts'
import { Blocker } from '../kit/blocker.ts'
import { builder } from '../kit/builder.ts'
import { connectionOf } from '../kit/connection/connection.ts'
import type { Listing } from '../kit/connection/listing.ts'
import { badUserInput } from '../kit/requestErrors.ts'
import { rowType } from '../kit/rowType.ts'
import { Worker } from '../worker/worker.ts'
import { EndReason, LeaveReason, LogStream, ReplicaState } from './replicaEnums.ts'
import { ReplicaFilter, replicaFilterSql } from './replicaFilter.ts'

const replicas: Listing = {
  name: 'Query.replicas',
  table: 'Replica',
  parent: null,
  order: [{ column: 'id', type: 'text' }],
  descending: true,
}

const LogLine = builder.objectRef<LogLineValue>('LogLine').implement({
  description: "One line of a replica's output.",
  fields: (t) => ({
    stream: t.field({ type: LogStream, description: 'The stream.', resolve: ({ stream }) => stream }),
    text: t.exposeString('text', { description: 'The line, without its line break.' }),
    seenAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        "When its worker first saw it, by the clock of the worker's machine: it was written between the look before and this one, 2 s or less. Null: that is not known any more.",
      resolve: ({ at }) => at,
    }),
    start: t.exposeInt('start', {
      nullable: true,
      description: 'The start of the replica that wrote it. Null: that is not known any more.',
    }),
  }),
})

const LogStart = builder.objectRef<LogText['starts'][number]>('LogStart').implement({
  description: 'A start of a replica, in place or on another host, that its worker remembers.',
  fields: (t) => ({
    start: t.exposeInt('start', { description: 'Its number.' }),
    at: t.field({
      type: 'DateTime',
      description: "When it began, by the clock of the worker's machine.",
      resolve: ({ at }) => at,
    }),
  }),
})

const ReplicaLog = builder.objectRef<LogText>('ReplicaLog').implement({
  description: "The last lines of a replica's output, as its worker keeps them.",
  fields: (t) => ({
    stdout: t.stringList({ description: 'Lines of standard output, oldest first.', resolve: (log) => log.stdout }),
    stderr: t.stringList({ description: 'Lines of standard error, oldest first.', resolve: (log) => log.stderr }),
    truncated: t.exposeBoolean('truncated', { description: 'Whether there was more than was asked for or is kept.' }),
    lines: t.field({
      type: [LogLine],
      description: 'The lines of both streams in the order in which the worker saw them, with their times and starts.',
      resolve: linesOf,
    }),
    starts: t.field({
      type: [LogStart],
      description: 'The starts that its worker remembers, oldest first, also those that wrote nothing.',
      resolve: ({ starts }) => [...starts],
    }),
  }),
})

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
    pending: t.field({
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
    log: t.field({
      type: ReplicaLog,
      nullable: true,
      description:
        'The last lines of its output, which its worker is asked for now. Null when it was never placed, or when its worker is not connected or does not answer in time.',
      args: {
        tailLines: t.arg.int({
          defaultValue: 100,
          description: `How many lines to return of each stream, ${bounds.tailLines.min} to ${bounds.tailLines.max}. The error BAD_USER_INPUT for any other number.`,
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
