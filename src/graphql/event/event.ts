import { type Event as EventRow, Prisma } from '../../generated/prisma/client.ts'
import type { EventKind as Kind } from '../../generated/prisma/enums.ts'
import { builder } from '../kit/builder.ts'
import { noneLeft } from '../kit/check.ts'
import { connectionOf, type Filtered } from '../kit/connection/connection.ts'
import type { Listing } from '../kit/connection/listing.ts'
import { enumOf } from '../kit/enumOf.ts'
import { among, filterDescription, filtered, refuseBadFilter } from '../kit/filter.ts'
import { rowType } from '../kit/rowType.ts'

const events: Listing = {
  name: 'Query.events',
  table: 'Event',
  parent: null,
  order: [{ column: 'revision', type: 'int8' }],
  descending: true,
}

const EventKind = enumOf<Kind>('EventKind', 'What an event is about.', {
  SERVICE_CREATED: 'A service was created.',
  SERVICE_SCALED: 'The desired replicas of a service changed.',
  SERVICE_UPDATED: 'A service was given another version or other settings.',
  SERVICE_DELETED: 'The deletion of a service was asked for, or is complete.',
  ROLLOUT: 'A rollout began, waited, went on or ended.',
  REPLICA: 'Replicas were created, placed, started, became ready or ended.',
  HOST: 'A host or worker came, changed or went.',
  PROFILE: 'A profile was applied.',
  PROJECT: 'A project or queue was applied.',
})

export const Event = builder.prismaNode('Event', {
  id: { field: 'revision', description: 'The global id.' },
  nullable: true,
  description: 'A sentence for people about a committed change.',
  fields: (t) => ({
    revision: t.expose('revision', { type: 'Revision', description: 'The position of its fact.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When it was committed.' }),
    kind: t.field({ type: EventKind, description: 'What it is about.', resolve: (event) => event.kind }),
    message: t.exposeString('message', { description: 'The sentence.' }),
    count: t.exposeInt('count', {
      description:
        'How often it has happened so far. A repeat for the same cause has an event only at the 2nd, 4th, 8th … time.',
    }),
    cause: t.exposeString('cause', {
      nullable: true,
      description:
        'Why the actor wanted it, as their mutation said; null when it did not say, and for what the rules do.',
    }),
    actor: t.exposeString('actor', { description: 'The subject that caused it; "xce" when the rules did.' }),
    service: t.field({
      type: rowType('Service'),
      nullable: true,
      description: 'The service that it is about; null when it is about none, or when the service is no longer kept.',
      resolve: ({ serviceId }, _args, { rows }) => rows.load('Service', serviceId),
    }),
    replica: t.field({
      type: rowType('Replica'),
      nullable: true,
      description:
        'The replica that it is about; null when it is about none or several, or when the replica is no longer kept.',
      resolve: ({ replicaId }, _args, { rows }) => rows.load('Replica', replicaId),
    }),
    host: t.field({
      type: rowType('Host'),
      nullable: true,
      description: 'The host that it is about; null when it is about none, or when the host is no longer kept.',
      resolve: ({ hostId }, _args, { rows }) => rows.load('Host', hostId),
    }),
  }),
})

export const EventConnection = builder.connectionObject(
  { type: Event, name: 'EventConnection', description: 'Events, newest first.' },
  { name: 'EventEdge', description: 'An event and its position.' },
)

export const EventFilter = builder.inputType('EventFilter', {
  description: filterDescription('events'),
  fields: (t) => ({
    projects: t.stringList({ description: 'Events of one of the projects with these names.' }),
    services: t.stringList({ description: 'Events of services with one of these names, also of deleted ones.' }),
    kinds: t.field({
      type: [EventKind],
      required: { list: false, items: true },
      description: 'Events of one of these kinds.',
    }),
    actors: t.stringList({ description: 'Events that one of these subjects caused; "xce" stands for the rules.' }),
  }),
})

export type EventFilterValue = typeof EventFilter.$inferInput

export function eventFilterSql(filter: EventFilterValue | null | undefined): Filtered {
  refuseBadFilter('filter', filter)
  const given: EventFilterValue = filter ?? {}
  const { projects, services, kinds, actors, ...rest } = given
  noneLeft(rest)
  const conditions: Prisma.Sql[] = [
    ...among(Prisma.sql`t.actor`, actors),
    ...among(Prisma.sql`t.kind`, kinds, 'EventKind'),
  ]
  if (projects)
    conditions.push(Prisma.sql`t."projectId" IN (SELECT p.id FROM "Project" p WHERE p.name = ANY(${projects}::text[]))`)
  if (services)
    conditions.push(Prisma.sql`t."serviceId" IN (SELECT s.id FROM "Service" s WHERE s.name = ANY(${services}::text[]))`)
  return filtered(filter, conditions)
}

builder.queryFields((t) => ({
  events: t.connection(
    {
      type: Event,
      description: 'All events that are kept, newest first.',
      args: { filter: t.arg({ type: EventFilter, description: 'Which ones to return; all when left out.' }) },
      resolve: (_root, args, context) =>
        connectionOf<EventRow>(context, events, null, args, eventFilterSql(args.filter)),
    },
    EventConnection,
  ),
}))
