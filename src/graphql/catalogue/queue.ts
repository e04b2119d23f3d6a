import type { Queue as QueueRow } from '../../generated/prisma/client.ts'
import { bounds } from '../../model/bounds.ts'
import type { ClusterOutcome } from '../../store/commit/outcome.ts'
import { builder } from '../kit/builder.ts'
import { noneLeft } from '../kit/check.ts'
import { connectionOf } from '../kit/connection/connection.ts'
import { orderOf } from '../kit/connection/order.ts'
import { appliedOf, userMutation } from '../kit/mutation.ts'
import { namedArgs, namesFilter, whereArgs } from '../kit/named.ts'
import { nameField, whole } from '../kit/values.ts'

const Queue = builder.prismaNode('Queue', {
  id: { field: 'id', description: 'The global id.' },
  nullable: true,
  description: 'The order in which replicas that wait are placed. One named default, of priority 0, exists.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'A DNS-1123 label of at most 50 characters; unique.' }),
    priority: t.exposeInt('priority', {
      description:
        "The queue's priority. Replicas of the queue with the higher priority are placed first, and among equal ones the older.",
    }),
  }),
})

const QueueConnection = builder.connectionObject(
  { type: Queue, name: 'QueueConnection', description: 'Queues by name.' },
  { name: 'QueueEdge', description: 'A queue and its position.' },
)

const filter = namesFilter('Queue', 'queues')
const order = orderOf({
  type: 'Queue',
  things: 'queues',
  choices: {
    NAME: { column: 'name', type: 'text', description: 'The name.' },
    PRIORITY: { column: 'priority', type: 'int4', description: 'The priority.' },
    CREATED_AT: { column: 'createdAt', type: 'timestamptz', description: 'The instant of creation.' },
  },
  listing: { name: 'Query.queues', table: 'Queue', parent: null },
})

builder.queryFields((t) => ({
  queue: t.prismaField({
    type: 'Queue',
    nullable: true,
    description: 'The queue that has this name or id; null when there is none.',
    args: namedArgs(t.arg, 'Queue'),
    resolve: (query, _root, reference, { app }) => {
      const where = whereArgs('Queue', reference)
      return where === null
        ? null
        : app.database.prisma.queue.findFirst({ ...query, where: { ...where, removedAt: null } })
    },
  }),
  queues: t.connection(
    {
      type: Queue,
      description: 'All queues.',
      args: {
        filter: t.arg({ type: filter.input, description: 'Which ones to return; all when left out.' }),
        orderBy: t.arg({ type: order.input, description: order.description }),
      },
      resolve: (_root, args, context) =>
        connectionOf<QueueRow>(context, order.listingBy(args.orderBy), null, args, filter.sql(args.filter)),
    },
    QueueConnection,
  ),
}))

const ApplyQueuePayload = builder.objectRef<Extract<ClusterOutcome, { kind: 'queue' }>>('ApplyQueuePayload').implement({
  description: 'The queue was applied.',
  fields: (t) => ({
    queue: t.field({
      type: Queue,
      description: 'The queue.',
      resolve: ({ queueId }, _args, { rows }) => rows.require('Queue', queueId),
    }),
  }),
})

userMutation({
  name: 'applyQueue',
  description: 'Makes a queue, or changes its priority. Replicas that wait are placed by the new one.',
  input: {
    description: 'A whole queue.',
    fields: (t) => ({
      name: t.string(nameField),
      priority: t.int({
        required: true,
        ...whole(
          bounds.queuePriority,
          'priorities',
          (range) => `The priority, ${range}. Replicas of the queue with the higher priority are placed first.`,
        ),
      }),
    }),
  },
  payload: ApplyQueuePayload,
  errors: [],
  about: ({ name }) => ({ queue: name }),
  perform: async ({ name, priority, ...rest }, { app, by, remember }) => {
    noneLeft(rest)
    const change = { kind: 'applyQueue', name, priority, ...by } as const
    return appliedOf('queue', await app.committer.write(change, remember(null)))
  },
})
