import { type HostFrame, hostFrames } from '../../feed/frames/hostFrames.ts'
import { listFollower } from '../../feed/listFollower.ts'
import { SharedSource } from '../../feed/sharedSource.ts'
import { builder } from '../kit/builder.ts'
import { encodeGlobalId } from '../kit/globalId.ts'
import { ChangeKind } from './changeKind.ts'
import { afterDescription } from './subscriptionArgs.ts'

const HostChange = builder.objectRef<HostFrame>('HostChange').implement({
  description:
    'A frame of hostChanged, in parts where there are many. It covers every change after the previous frame, up to its own revision.',
  fields: (t) => ({
    kind: t.field({ type: ChangeKind, description: 'What this frame is.', resolve: (frame) => frame.kind }),
    revision: t.field({
      type: 'Revision',
      description: 'Its position in the fact log.',
      resolve: (frame) => frame.revision,
    }),
    last: t.exposeBoolean('last', {
      description: 'Whether this is the final part of the frame; parts have at most 500 hosts.',
    }),
    hosts: t.prismaField({
      type: ['Host'],
      description:
        'On a SNAPSHOT all of them, on a DELTA those that are new or changed, or whose replicas came or went; read now, never older than the revision.',
      resolve: (query, { hosts }, _args, { app }) =>
        hosts.length === 0
          ? []
          : app.database.prisma.host.findMany({ ...query, where: { id: { in: [...hosts] } }, orderBy: { id: 'asc' } }),
    }),
    removedIds: t.idList({
      description: 'Those that were removed since the previous frame.',
      resolve: ({ removed }) => removed.map((id) => encodeGlobalId('Host', id)),
    }),
  }),
})

builder.subscriptionField('hostChanged', (t) =>
  t.field({
    type: HostChange,
    description: 'Follows all hosts: a SNAPSHOT first, then every change.',
    args: { after: t.arg({ type: 'Revision', description: afterDescription }) },
    subscribe: (_root, { after }, { app: { feed, database } }) =>
      new SharedSource(feed, 'hosts', after, listFollower(feed, 'hosts', hostFrames(database))),
    resolve: (frame) => frame,
  }),
)
