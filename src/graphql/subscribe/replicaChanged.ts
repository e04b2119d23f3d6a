import { type ReplicaFrame, replicaFrames } from '../../feed/frames/serviceFrames.ts'
import { builder } from '../kit/builder.ts'
import { encodeGlobalId } from '../kit/globalId.ts'
import { partFields } from './frameFields.ts'
import { followService, frameArgs, serviceArgs } from './sources.ts'

const ReplicaChange = builder.objectRef<ReplicaFrame>('ReplicaChange').implement({
  description:
    'A frame of replicaChanged, in parts where there are many. It covers every change after the previous frame, up to its own revision.',
  fields: (t) => ({
    ...partFields(t, 'replicas'),
    replicas: t.prismaField({
      type: ['Replica'],
      description:
        'A SNAPSHOT has all replicas that have not ended, a DELTA those that are new, changed or have just ended. They are read now, and are never older than the revision.',
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
      description:
        'The ids of replicas that ended after the previous frame; `replicas` has them for the last time, with the reason.',
      resolve: ({ ended }) => ended.map((id) => encodeGlobalId('Replica', id)),
    }),
  }),
})

builder.subscriptionField('replicaChanged', (t) =>
  t.field({
    type: ReplicaChange,
    description:
      'Follows the replicas of a service: a SNAPSHOT of those that have not ended, then every change. The error NOT_FOUND when there is no such service. When it is deleted later, a frame GONE ends the subscription.',
    args: {
      ...serviceArgs,
      ...frameArgs,
    },
    subscribe: (_root, { service, ...wishes }, context) =>
      followService(context, service, wishes, 'replicas', (id) => replicaFrames(context.app.database, id)),
    resolve: (frame) => frame,
  }),
)
