import { type ReplicaFrame, replicaFrames } from '../../feed/frames/serviceFrames.ts'
import { serviceFollower } from '../../feed/serviceFollower.ts'
import { SharedSource } from '../../feed/sharedSource.ts'
import { builder } from '../kit/builder.ts'
import { encodeGlobalId } from '../kit/globalId.ts'
import { ChangeKind } from './changeKind.ts'
import { subscribedService } from './subscribedService.ts'
import { afterDescription } from './subscriptionArgs.ts'

const ReplicaChange = builder.objectRef<ReplicaFrame>('ReplicaChange').implement({
  description:
    'A frame of replicaChanged, in parts where there are many. It covers every change after the previous frame, up to its own revision.',
  fields: (t) => ({
    kind: t.field({ type: ChangeKind, description: 'What this frame is.', resolve: (frame) => frame.kind }),
    revision: t.field({
      type: 'Revision',
      description: 'Its position in the fact log.',
      resolve: (frame) => frame.revision,
    }),
    last: t.exposeBoolean('last', {
      description: 'Whether this is the final part of the frame; parts have at most 500 replicas.',
    }),
    replicas: t.prismaField({
      type: ['Replica'],
      description:
        'On a SNAPSHOT all that have not ended, on a DELTA those that are new, changed or just ended; read now, never older than the revision.',
      resolve: (query, { replicas }, _args, { app }) =>
        replicas.length === 0
          ? []
          : app.database.prisma.replica.findMany({
              ...query,
              where: { id: { in: [...replicas] } },
              orderBy: { id: 'asc' },
            }),
    }),
    removedIds: t.idList({
      description: 'Those that have ended since the previous frame; `replicas` has them a last time, with the reason.',
      resolve: ({ ended }) => ended.map((id) => encodeGlobalId('Replica', id)),
    }),
  }),
})

builder.subscriptionField('replicaChanged', (t) =>
  t.field({
    type: ReplicaChange,
    description:
      'Follows the replicas of a service: a SNAPSHOT of those that have not ended, then every change. No such service: the error NOT_FOUND; deleted later: GONE, and the subscription ends.',
    args: {
      project: t.arg.string({ required: true, defaultValue: 'default', description: "The project's name." }),
      service: t.arg.string({ required: true, description: "The service's name." }),
      after: t.arg({ type: 'Revision', description: afterDescription }),
    },
    subscribe: async (_root, { project, service, after }, context) => {
      const { feed, database } = context.app
      const id = await subscribedService(context, { project, name: service })
      return new SharedSource(feed, `replicas ${id}`, after, serviceFollower(feed, id, replicaFrames(database, id)))
    },
    resolve: (frame) => frame,
  }),
)
