import { type ReplicaFrame, type ReplicaView, replicaFrames } from '../../feed/frames/serviceFrames.ts'
import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts'
import type { ReplicaId } from '../../model/id.ts'
import { builder } from '../kit/builder.ts'
import { encodeGlobalId } from '../kit/globalId.ts'
import { ReplicaFilter, replicaFilterSql } from '../replica/replicaFilter.ts'
import { partFields } from './frameFields.ts'
import { followService, frameArgs, serviceArgs } from './sources.ts'

const ReplicaListChange = builder.objectRef<ReplicaFrame>('ReplicaListChange').implement({
  description:
    'A frame of replicasChanged, in parts where there are many. It covers every change after the previous frame, up to its own revision.',
  fields: (t) => ({
    ...partFields(t, 'replicas'),
    replicas: t.prismaField({
      type: ['Replica'],
      description:
        'A SNAPSHOT has all replicas that match the filter and have not ended, a DELTA those that match it and are new, changed or have just ended. They are read now, and are never older than the revision.',
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
        'The ids of replicas that ended after the previous frame, which `replicas` has for the last time, with the reason, if they match the filter; and of those that changed and do not match it, of which one may never have matched it.',
      resolve: ({ ended, removed }) => [...ended, ...removed].map((id) => encodeGlobalId('Replica', id)),
    }),
  }),
})

builder.subscriptionField('replicasChanged', (t) =>
  t.field({
    type: ReplicaListChange,
    description:
      'Follows the replicas of a service that match a filter: a SNAPSHOT of those that have not ended, then every change. The error NOT_FOUND when there is no such service. When it is deleted later, a frame GONE ends the subscription.',
    args: {
      ...serviceArgs,
      filter: t.arg({ type: ReplicaFilter, description: 'Which ones to return; all when left out.' }),
      ...frameArgs,
    },
    subscribe: (_root, { service, filter, ...wishes }, context) => {
      const { database } = context.app
      const view = viewOf(database.prisma, filter)
      return followService(context, service, wishes, 'replicas', (id) => replicaFrames(database, id, view))
    },
    resolve: (frame) => frame,
  }),
)

function viewOf(prisma: PrismaClient, filter: Parameters<typeof replicaFilterSql>[0]): ReplicaView {
  const { sql } = replicaFilterSql(filter)
  if (sql === null) return null
  return async (ids) => {
    const rows = await prisma.$queryRaw<{ id: ReplicaId }[]>(
      Prisma.sql`SELECT t.id FROM "Replica" t WHERE t.id = ANY(${ids}::text[]) AND ${sql}`,
    )
    return rows.map(({ id }) => id)
  }
}
