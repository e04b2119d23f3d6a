import type { Queue as QueueRow } from '../generated/prisma/client.ts'
import { builder } from './builder.ts'
import { connectionOf } from './connection/connection.ts'
import type { Listing } from './connection/listing.ts'

const queues: Listing = { name: 'Query.queues', table: 'Queue', parent: null, order: [{ column: 'name', type: 'text' }], descending: false }

const Queue = builder.prismaNode('Queue', {
  id: { field: 'id', description: 'The global id.' },
  nullable: true,
  description: 'The order in which replicas that wait are placed (R14). One named default, of priority 0, exists.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'A DNS-1123 label of at most 50 characters; unique.' }),
    priority: t.exposeInt('priority', { description: 'Replicas of the higher priority are placed first; of equal ones the older.' }),
  }),
})

const QueueConnection = builder.connectionObject(
  { type: Queue, name: 'QueueConnection', description: 'Queues by name.' },
  { name: 'QueueEdge', description: 'A queue and its position.' },
)

builder.queryFields((t) => ({
  queues: t.connection(
    {
      type: Queue,
      description: 'All queues by name.',
      resolve: (_root, args, context) => connectionOf<QueueRow>(context, queues, null, args),
    },
    QueueConnection,
  ),
}))
