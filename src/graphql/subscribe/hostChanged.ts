import { type HostFrame, hostFrames } from '../../feed/frames/hostFrames.ts'
import { builder } from '../kit/builder.ts'
import { encodeGlobalId } from '../kit/globalId.ts'
import { partFields } from './frameFields.ts'
import { followList, frameArgs } from './sources.ts'

const HostChange = builder.objectRef<HostFrame>('HostChange').implement({
  description:
    'A frame of hostChanged, in parts where there are many. It covers every change after the previous frame, up to its own revision.',
  fields: (t) => ({
    ...partFields(t, 'hosts'),
    hosts: t.prismaField({
      type: ['Host'],
      description:
        'A SNAPSHOT has all hosts, a DELTA those that are new or changed, or whose replicas came or went. They are read now, and are never older than the revision.',
      resolve: (query, { hosts }, _args, { app }) =>
        hosts.length === 0
          ? []
          : app.database.prisma.host.findMany({ ...query, where: { id: { in: [...hosts] } }, orderBy: { id: 'asc' } }),
    }),
    removedIds: t.idList({
      description: 'The ids of hosts that were removed after the previous frame.',
      resolve: ({ removed }) => removed.map((id) => encodeGlobalId('Host', id)),
    }),
  }),
})

builder.subscriptionField('hostChanged', (t) =>
  t.field({
    type: HostChange,
    description: 'Follows all hosts: a SNAPSHOT first, then every change.',
    args: frameArgs,
    subscribe: (_root, wishes, context) => followList(context, 'hosts', wishes, hostFrames(context.app.database)),
    resolve: (frame) => frame,
  }),
)
