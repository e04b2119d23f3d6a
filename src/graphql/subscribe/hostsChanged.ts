import { type HostFrame, type HostListView, hostFrames } from '../../feed/frames/hostFrames.ts'
import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts'
import type { HostId } from '../../model/id.ts'
import { HostFilter, type HostFilterValue, lastingHost, presentHost } from '../host/hostFilter.ts'
import { builder } from '../kit/builder.ts'
import { allOf } from '../kit/filter.ts'
import { encodeGlobalId } from '../kit/globalId.ts'
import { partFields } from './frameFields.ts'
import { followList, frameArgs } from './sources.ts'

const HostListChange = builder.objectRef<HostFrame>('HostListChange').implement({
  description:
    'A frame of hostsChanged, in parts where there are many. It covers every change after the previous frame, up to its own revision.',
  fields: (t) => ({
    ...partFields(t, 'hosts'),
    hosts: t.prismaField({
      type: ['Host'],
      description:
        'A SNAPSHOT has all hosts that match the filter, a DELTA those of them that are new or changed, or whose replicas came or went. They are read now, and are never older than the revision.',
      resolve: (query, { hosts }, _args, { app }) =>
        hosts.length === 0
          ? []
          : app.database.prisma.host.findMany({ ...query, where: { id: { in: [...hosts] } }, orderBy: { id: 'asc' } }),
    }),
    removedIds: t.idList({
      description:
        'The ids of hosts that changed after the previous frame and are removed or do not match the filter. One of them may never have matched it.',
      resolve: ({ removed }) => removed.map((id) => encodeGlobalId('Host', id)),
    }),
  }),
})

builder.subscriptionField('hostsChanged', (t) =>
  t.field({
    type: HostListChange,
    description: 'Follows the hosts that match a filter: a SNAPSHOT first, then every change.',
    args: {
      filter: t.arg({ type: HostFilter, description: 'Which ones to return; all when left out.' }),
      ...frameArgs,
    },
    subscribe: (_root, { filter, ...wishes }, context) => {
      const { database } = context.app
      return followList(context, 'hosts', wishes, hostFrames(database, viewOf(database.prisma, filter)))
    },
    resolve: (frame) => frame,
  }),
)

function viewOf(prisma: PrismaClient, filter: HostFilterValue | null | undefined): HostListView {
  const present = presentHost(filter)
  const lasting = lastingHost(filter)
  return {
    judge: (ids) => {
      const which = ids === null ? present : Prisma.sql`t.id = ANY(${ids}::text[])`
      return prisma.$queryRaw<{ id: HostId; shown: boolean }[]>(
        Prisma.sql`SELECT t.id, (${present}) AS shown FROM "Host" t WHERE ${allOf([which, ...lasting])} ORDER BY t.id`,
      )
    },
  }
}
