import { Prisma, type Rollout as RolloutRow } from '../../generated/prisma/client.ts'
import type { RolloutState as State } from '../../generated/prisma/enums.ts'
import { Blocker } from '../kit/blocker.ts'
import { builder } from '../kit/builder.ts'
import { connectionOf, type Filtered } from '../kit/connection/connection.ts'
import type { Listing } from '../kit/connection/listing.ts'
import { enumOf } from '../kit/enumOf.ts'
import { rowType } from '../kit/rowType.ts'

const rollouts: Listing = {
  name: 'Query.rollouts',
  table: 'Rollout',
  parent: null,
  order: [{ column: 'id', type: 'text' }],
  descending: true,
}

const RolloutState = enumOf<State>('RolloutState', 'How far a rollout is.', {
  ROLLING: 'Under way: hold says what it waits for.',
  PAUSED: 'Under way, but its service is paused.',
  STALLED: 'Under way, but without progress for progressDeadlineSeconds. Progress or completion clears it.',
  COMPLETED: 'Every active replica has the target content and enough are available.',
  SUPERSEDED: 'A new target came before it was complete.',
  ROLLED_BACK: 'A rollback left it.',
  CANCELLED: 'Its service was deleted before it was complete.',
})

export const Rollout = builder.prismaNode('Rollout', {
  id: { field: 'id', description: 'The global id.' },
  nullable: true,
  description:
    'The move of a service from one version to another. The creation of a service is its rollout 1, from null.',
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
      description: 'The target.',
      resolve: ({ serviceId, toVersion }, _args, { rows }) =>
        rows.requireNumbered('ServiceVersion', serviceId, toVersion),
    }),
    state: t.field({ type: RolloutState, description: 'How far it is.', resolve: (rollout) => rollout.state }),
    automatic: t.exposeBoolean('automatic', { description: 'Whether it is an automatic rollback.' }),
    hold: t.field({
      type: Blocker,
      nullable: true,
      description: 'What it waits for; null when it has finished.',
      resolve: (rollout) => rollout.blocker,
    }),
    updatedReplicas: t.exposeInt('updatedReplicas', { description: 'Active replicas with the target content.' }),
    availableReplicas: t.exposeInt('availableReplicas', { description: 'Of those, the available ones.' }),
    oldReplicas: t.exposeInt('oldReplicas', { description: 'Active replicas that are outdated.' }),
    desiredReplicas: t.exposeInt('desiredReplicas', {
      description: 'Desired replicas of the service that it works with.',
    }),
    maxSurge: t.exposeInt('maxSurge', { description: 'Replicas that it may have above the desired ones.' }),
    maxUnavailable: t.exposeInt('maxUnavailable', {
      description: 'Replicas of the desired ones that may be unavailable.',
    }),
    minReadySeconds: t.exposeInt('minReadySeconds', {
      description: 'Seconds that a replica has to be ready to be available.',
    }),
    progressDeadlineSeconds: t.exposeInt('progressDeadlineSeconds', {
      description: 'Seconds without progress after which it is STALLED.',
    }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it began.' }),
    progressedAt: t.expose('progressedAt', {
      type: 'DateTime',
      description: 'The last high-water mark of its progress.',
    }),
    deadlineAt: t.expose('deadlineAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it stalls if nothing progresses; null while no deadline runs.',
    }),
    finishedAt: t.expose('finishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ended, in whatever state; null while under way.',
    }),
    startedBy: t.exposeString('startedBy', { description: 'The subject that began it; xce: the rules did.' }),
  }),
})

export const RolloutConnection = builder.connectionObject(
  { type: Rollout, name: 'RolloutConnection', description: 'Rollouts, newest first.' },
  { name: 'RolloutEdge', description: 'A rollout and its position.' },
)

builder.queryFields((t) => ({
  rollouts: t.connection(
    {
      type: Rollout,
      description: 'Rollouts of all services, newest first.',
      args: {
        states: t.arg({
          type: [RolloutState],
          required: { list: false, items: true },
          description: 'In one of these states; left out: all. An empty list matches none.',
        }),
      },
      resolve: (_root, args, context) => connectionOf<RolloutRow>(context, rollouts, null, args, inStates(args.states)),
    },
    RolloutConnection,
  ),
}))

function inStates(states: readonly State[] | null | undefined): Filtered {
  if (!states) return { sql: null, key: '' }
  return { sql: Prisma.sql`t.state = ANY(${states}::text[]::"RolloutState"[])`, key: states.join() }
}
