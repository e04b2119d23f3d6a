import { Prisma, type Rollout as RolloutRow } from '../../generated/prisma/client.ts'
import type { RolloutState as State } from '../../generated/prisma/enums.ts'
import { Blocker } from '../kit/blocker.ts'
import { builder } from '../kit/builder.ts'
import { noneLeft } from '../kit/check.ts'
import { connectionOf, type Filtered } from '../kit/connection/connection.ts'
import type { Listing } from '../kit/connection/listing.ts'
import { enumOf } from '../kit/enumOf.ts'
import { among, filterDescription, filtered, refuseBadFilter } from '../kit/filter.ts'
import { findService } from '../kit/lookup.ts'
import { refuseFaults } from '../kit/reference.ts'
import { rowType } from '../kit/rowType.ts'
import { ServiceReference, serviceFaults, servicesNamed } from '../kit/serviceReference.ts'

const rollouts: Listing = {
  name: 'Query.rollouts',
  table: 'Rollout',
  parent: null,
  order: [{ column: 'id', type: 'text' }],
  descending: true,
}

const RolloutState = enumOf<State>('RolloutState', 'The states of a rollout.', {
  ROLLING: 'It is under way; `blocker` says what it waits for.',
  PAUSED: 'It is under way, but its service is paused.',
  STALLED: 'It is under way, but has made no progress for progressDeadlineSeconds. Progress or completion clears this.',
  COMPLETED: 'Every active replica has the target content and enough are available.',
  SUPERSEDED: 'A new target came before it was complete.',
  ROLLED_BACK: 'A rollback ended it before it was complete, or automatically while it was watched.',
  CANCELLED: 'Its service was deleted before it was complete.',
})

export const Rollout = builder.prismaNode('Rollout', {
  id: { field: 'id', description: 'The global id.' },
  nullable: true,
  description:
    'The move of a service from one version to another. The creation of a service is its rollout 1, whose `from` is null.',
  fields: (t) => ({
    number: t.exposeInt('number', { description: '1, 2, 3 … in its service.' }),
    service: t.field({
      type: rowType('Service'),
      description: 'The service.',
      resolve: ({ serviceId }, _args, { rows }) => rows.require('Service', serviceId),
    }),
    from: t.field({
      type: rowType('ServiceVersion'),
      nullable: true,
      description: 'The last completed version before it; null for the creation.',
      resolve: ({ serviceId, fromVersion }, _args, { rows }) =>
        rows.loadNumbered('ServiceVersion', serviceId, fromVersion),
    }),
    to: t.field({
      type: rowType('ServiceVersion'),
      description: 'The target version.',
      resolve: ({ serviceId, toVersion }, _args, { rows }) =>
        rows.requireNumbered('ServiceVersion', serviceId, toVersion),
    }),
    state: t.field({ type: RolloutState, description: 'Its state.', resolve: (rollout) => rollout.state }),
    automatic: t.exposeBoolean('automatic', { description: 'Whether it is an automatic rollback.' }),
    blocker: t.field({
      type: Blocker,
      nullable: true,
      description: 'What it waits for; null when it has finished.',
      resolve: (rollout) => rollout.blocker,
    }),
    updatedReplicas: t.exposeInt('updatedReplicas', { description: 'Active replicas with the target content.' }),
    availableReplicas: t.exposeInt('availableReplicas', { description: 'Available replicas with the target content.' }),
    oldReplicas: t.exposeInt('oldReplicas', { description: 'Active replicas that are outdated.' }),
    desiredReplicas: t.exposeInt('desiredReplicas', {
      description: 'The desired replicas of the service.',
    }),
    maxSurge: t.exposeInt('maxSurge', { description: 'How many replicas it may run above the desired ones.' }),
    maxUnavailable: t.exposeInt('maxUnavailable', {
      description: 'How many of the desired replicas may be unavailable.',
    }),
    minReadySeconds: t.exposeInt('minReadySeconds', {
      description: 'Seconds for which a replica must be ready before it is available.',
    }),
    progressDeadlineSeconds: t.exposeInt('progressDeadlineSeconds', {
      description: 'Seconds without progress after which it is STALLED.',
    }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it began.' }),
    progressedAt: t.expose('progressedAt', {
      type: 'DateTime',
      description: 'The instant of its last progress.',
    }),
    deadlineAt: t.expose('deadlineAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The instant at which it is STALLED if it makes no progress; null while no deadline runs.',
    }),
    finishedAt: t.expose('finishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The instant at which it ended, in any state; null while it is under way.',
    }),
    watchUntil: t.expose('watchUntil', {
      type: 'DateTime',
      nullable: true,
      description:
        'The instant until which a crash loop of the target still rolls it back although it is COMPLETED; null while it is not watched. A failure or a restart in place moves it.',
    }),
    startedBy: t.exposeString('startedBy', { description: 'The subject that began it; "xce" when the rules did.' }),
  }),
})

export const RolloutConnection = builder.connectionObject(
  { type: Rollout, name: 'RolloutConnection', description: 'Rollouts, newest first.' },
  { name: 'RolloutEdge', description: 'A rollout and its position.' },
)

const RolloutFilter = builder.inputType('RolloutFilter', {
  description: filterDescription('rollouts'),
  fields: (t) => ({
    services: t.field({
      type: [ServiceReference],
      required: { list: false, items: true },
      description:
        'Rollouts of one of these services. A name that no service holds, and an id that none has, match nothing.',
    }),
    projects: t.stringList({ description: 'Rollouts in one of the projects with these names.' }),
    states: t.field({
      type: [RolloutState],
      required: { list: false, items: true },
      description: 'Rollouts in one of these states.',
    }),
  }),
})

builder.queryFields((t) => ({
  rollout: t.field({
    type: Rollout,
    nullable: true,
    description:
      'The rollout of this number of a service, or its current one when no number is given; null when there is none.',
    args: {
      service: t.arg({ type: ServiceReference, required: true, description: 'The service.' }),
      number: t.arg.int({
        description: "The rollout's number, 1, 2, 3 … in its service; the current one when left out.",
      }),
    },
    resolve: async (_root, { service, number }, { app }) => {
      refuseFaults('service', serviceFaults(service))
      const serviceId = await findService(app.database.prisma, service)
      if (serviceId === null) return null
      const { rolloutNumber } = await app.database.prisma.service.findUniqueOrThrow({
        where: { id: serviceId },
        select: { rolloutNumber: true },
      })
      const where = { serviceId, number: number ?? rolloutNumber }
      return app.database.prisma.rollout.findFirst({ where })
    },
  }),
  rollouts: t.connection(
    {
      type: Rollout,
      description: 'Rollouts of all services, newest first.',
      args: { filter: t.arg({ type: RolloutFilter, description: 'Which ones to return; all when left out.' }) },
      resolve: (_root, args, context) =>
        connectionOf<RolloutRow>(context, rollouts, null, args, rolloutFilterSql(args.filter)),
    },
    RolloutConnection,
  ),
}))

function rolloutFilterSql(filter: typeof RolloutFilter.$inferInput | null | undefined): Filtered {
  refuseBadFilter('filter', filter)
  const { services, projects, states, ...rest } = filter ?? {}
  noneLeft(rest)
  const conditions = [...among(Prisma.sql`t.state`, states, 'RolloutState')]
  if (services) conditions.push(Prisma.sql`t."serviceId" IN (${servicesNamed('filter.services', services)})`)
  if (projects)
    conditions.push(
      Prisma.sql`t."serviceId" IN (SELECT s.id FROM "Service" s JOIN "Project" p ON p.id = s."projectId" WHERE p.name = ANY(${projects}::text[]))`,
    )
  return filtered(filter, conditions)
}
