import type {
  Event as EventRow,
  Replica as ReplicaRow,
  Rollout as RolloutRow,
  ServiceVersion as VersionRow,
} from '../../generated/prisma/client.ts'
import type { ServiceStatus as Status } from '../../generated/prisma/enums.ts'
import { ServiceOverrides } from '../content/content.ts'
import { Annotation, Label, pairsOf } from '../content/metadata.ts'
import { ServiceSettings, settingPath } from '../content/settings.ts'
import { Endpoint, tablesOfServices } from '../endpoint/endpoint.ts'
import { Event, EventConnection } from '../event/event.ts'
import { Blocker } from '../kit/blocker.ts'
import { builder } from '../kit/builder.ts'
import { connectionOf } from '../kit/connection/connection.ts'
import type { Listing } from '../kit/connection/listing.ts'
import { enumOf } from '../kit/enumOf.ts'
import { rowType } from '../kit/rowType.ts'
import { Replica, ReplicaConnection } from '../replica/replica.ts'
import { ReplicaFilter, replicaFilterSql } from '../replica/replicaFilter.ts'
import { Rollout, RolloutConnection } from '../rollout/rollout.ts'
import { ServiceVersion, ServiceVersionConnection } from './version.ts'

const ofService = { parent: 'serviceId', descending: true } as const
const replicas: Listing = {
  name: 'Service.replicas',
  table: 'Replica',
  ...ofService,
  order: [{ column: 'id', type: 'text' }],
}
const versions: Listing = {
  name: 'Service.versions',
  table: 'ServiceVersion',
  ...ofService,
  order: [{ column: 'number', type: 'int4' }],
}
const rollouts: Listing = {
  name: 'Service.rollouts',
  table: 'Rollout',
  ...ofService,
  order: [{ column: 'number', type: 'int4' }],
}
const events: Listing = {
  name: 'Service.events',
  table: 'Event',
  ...ofService,
  order: [{ column: 'revision', type: 'int8' }],
}

export const ServiceStatus = enumOf<Status>(
  'ServiceStatus',
  'The state of a service: the first of DELETING, CRASH_LOOP, STALLED, PAUSED, PROGRESSING, DEGRADED, STOPPED, HEALTHY that holds.',
  {
    HEALTHY: 'As many replicas as desired are available, all with the target content.',
    PROGRESSING: 'Its rollout is not finished, or it was scaled up and its new replicas become available.',
    DEGRADED: 'Fewer replicas than desired are available, and not only because it was scaled up a short while ago.',
    PAUSED: 'Paused with a rollout under way.',
    STALLED: 'The rollout made no progress within its deadline.',
    CRASH_LOOP: 'A slot of the target content failed three times or more in a row.',
    STOPPED: 'No replicas are desired.',
    DELETING: 'Its deletion was asked for.',
  },
)

export const Service = builder.prismaNode('Service', {
  id: { field: 'id', description: 'The global id. It finds the service also when the service is gone.' },
  nullable: true,
  description:
    'A service keeps a number of independent replicas running, replaces those that are lost, and lists their addresses in its endpoint.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description: 'A DNS-1123 label of at most 50 characters; unique in its project until its last replica has ended.',
    }),
    project: t.field({
      type: rowType('Project'),
      description: 'The project whose quota it uses.',
      resolve: ({ projectId }, _args, { rows }) => rows.require('Project', projectId),
    }),
    settings: t.field({
      type: ServiceSettings,
      description: 'How it is kept: the settings that are in force.',
      resolve: ({ settings }) => settings,
    }),
    labels: t.field({
      type: [Label],
      description: 'Its labels, by their keys. Lists can be filtered by them.',
      resolve: ({ labels }) => pairsOf(labels),
    }),
    annotations: t.field({
      type: [Annotation],
      description: 'Its annotations, by their keys.',
      resolve: ({ annotations }) => pairsOf(annotations),
    }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'A text about it; null when there is none.',
    }),
    ownSettings: t.stringList({
      description:
        "The names of the settings that it has of its own, for example rollout.maxSurge. The others are its profile's, and follow it to another revision.",
      resolve: ({ ownSettings }) => Object.keys(ownSettings).map(settingPath),
    }),
    queue: t.field({
      type: rowType('Queue'),
      description: 'The queue, whose priority decides when its replicas are placed.',
      resolve: ({ queueId }, _args, { rows }) => rows.require('Queue', queueId),
    }),
    owner: t.exposeString('owner', { description: 'The subject that created it.' }),
    profileRevision: t.field({
      type: rowType('ProfileRevision'),
      description: "The profile's revision of its target version.",
      resolve: ({ profileRevisionId }, _args, { rows }) => rows.require('ProfileRevision', profileRevisionId),
    }),
    version: t.field({
      type: ServiceVersion,
      description: 'The target version, which it should run.',
      resolve: ({ id, versionNumber }, _args, { rows }) => rows.requireNumbered('ServiceVersion', id, versionNumber),
    }),
    overrides: t.field({
      type: ServiceOverrides,
      description: "The service's own part in the target version, without the profile's.",
      resolve: async ({ id, versionNumber }, _args, { rows }) =>
        (await rows.requireNumbered('ServiceVersion', id, versionNumber)).overrides,
    }),
    versions: t.connection(
      {
        type: ServiceVersion,
        description:
          'Its versions that are kept, newest first. Kept are the last ones, and all that a replica or rollout needs.',
        resolve: ({ id }, args, context) => connectionOf<VersionRow>(context, versions, id, args),
      },
      ServiceVersionConnection,
    ),
    desiredReplicas: t.exposeInt('desiredReplicas', { description: 'Replicas that should run, 0 to 50000.' }),
    activeReplicas: t.exposeInt('activeReplicas', {
      description: 'Replicas that have not ended and are not stopping.',
    }),
    runningReplicas: t.exposeInt('runningReplicas', {
      description: 'Active replicas whose process was confirmed by a worker.',
    }),
    readyReplicas: t.exposeInt('readyReplicas', { description: 'Active replicas that are ready.' }),
    availableReplicas: t.exposeInt('availableReplicas', {
      description: 'Active replicas that have been ready for minReadySeconds.',
    }),
    updatedReplicas: t.exposeInt('updatedReplicas', {
      description: 'Active replicas that are not outdated.',
    }),
    stoppingReplicas: t.exposeInt('stoppingReplicas', {
      description: 'Replicas that are stopping: they still hold host, ports and quota.',
    }),
    status: t.field({
      type: ServiceStatus,
      description: 'Its state in one word; blockers say more.',
      resolve: (service) => service.status,
    }),
    paused: t.exposeBoolean('paused', { description: 'Whether rollouts are paused.' }),
    blockers: t.field({
      type: [Blocker],
      description: 'What it waits for, one blocker for each reason, with a count.',
      resolve: (service) => service.blockers,
    }),
    replicas: t.connection(
      {
        type: Replica,
        description: 'Its replicas, newest first, with those that have ended unless the filter leaves them out.',
        args: { filter: t.arg({ type: ReplicaFilter, description: 'Which ones to return; all when left out.' }) },
        resolve: ({ id }, args, context) =>
          connectionOf<ReplicaRow>(context, replicas, id, args, replicaFilterSql(args.filter)),
      },
      ReplicaConnection,
    ),
    rollout: t.field({
      type: Rollout,
      description: 'The current rollout, which may have finished already.',
      resolve: ({ id, rolloutNumber }, _args, { rows }) => rows.requireNumbered('Rollout', id, rolloutNumber),
    }),
    rollouts: t.connection(
      {
        type: Rollout,
        description: 'Its rollouts that are still kept, newest first.',
        resolve: ({ id }, args, context) => connectionOf<RolloutRow>(context, rollouts, id, args),
      },
      RolloutConnection,
    ),
    endpoint: t.loadable({
      type: Endpoint,
      description: 'The addresses of its replicas; none once it is gone.',
      loaderOptions: { cache: false },
      load: (ids: string[], { app }) => tablesOfServices(app.database, ids),
      resolve: ({ id }) => id,
    }),
    events: t.connection(
      {
        type: Event,
        description: 'Its events, newest first.',
        resolve: ({ id }, args, context) => connectionOf<EventRow>(context, events, id, args),
      },
      EventConnection,
    ),
    revision: t.expose('revision', {
      type: 'Revision',
      description: 'The position of its last fact of any kind. Subscriptions resume from it.',
    }),
    specRevision: t.expose('specRevision', {
      type: 'Revision',
      description: 'The position of the last change that a user made. expectedRevision is compared with it.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    deletionRequestedAt: t.expose('deletionRequestedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its deletion was asked for; null when it was not.',
    }),
  }),
})

export const ServiceConnection = builder.connectionObject(
  { type: Service, name: 'ServiceConnection', description: 'Services in the requested order.' },
  { name: 'ServiceEdge', description: 'A service and its position.' },
)
