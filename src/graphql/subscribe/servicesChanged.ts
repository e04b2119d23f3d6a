import { type ServiceListFrame, type ServiceListView, serviceListFrames } from '../../feed/frames/serviceListFrames.ts'
import { listFollower } from '../../feed/listFollower.ts'
import { SharedSource } from '../../feed/sharedSource.ts'
import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts'
import type { ServiceId } from '../../model/id.ts'
import { builder } from '../kit/builder.ts'
import { encodeGlobalId } from '../kit/globalId.ts'
import { lastingConditions, ServiceFilter, type ServiceFilterValue } from '../service/serviceQueries.ts'
import { ChangeKind } from './changeKind.ts'
import { afterDescription } from './subscriptionArgs.ts'

const ServiceListChange = builder.objectRef<ServiceListFrame>('ServiceListChange').implement({
  description:
    'A frame of servicesChanged, in parts where there are many. It covers every change after the previous frame, up to its own revision.',
  fields: (t) => ({
    kind: t.field({ type: ChangeKind, description: 'What this frame is.', resolve: (frame) => frame.kind }),
    revision: t.field({
      type: 'Revision',
      description: 'Its position in the fact log.',
      resolve: (frame) => frame.revision,
    }),
    last: t.exposeBoolean('last', {
      description: 'Whether this is the final part of the frame; parts have at most 500 services.',
    }),
    services: t.prismaField({
      type: ['Service'],
      description:
        'On a SNAPSHOT all that match the filter, on a DELTA those that changed or came to match it; read now, never older than the revision.',
      resolve: (query, { services }, _args, { app }) =>
        services.length === 0
          ? []
          : app.database.prisma.service.findMany({
              ...query,
              where: { id: { in: [...services] } },
              orderBy: { id: 'asc' },
            }),
    }),
    removedIds: t.idList({
      description: 'Those that matched the filter before and no longer do, or are gone.',
      resolve: ({ removed }) => removed.map((id) => encodeGlobalId('Service', id)),
    }),
  }),
})

builder.subscriptionField('servicesChanged', (t) =>
  t.field({
    type: ServiceListChange,
    description: 'Follows the services that match a filter: a SNAPSHOT first, then every change.',
    args: {
      filter: t.arg({ type: ServiceFilter, description: 'Which ones; left out: all.' }),
      after: t.arg({ type: 'Revision', description: afterDescription }),
    },
    subscribe: (_root, { filter, after }, { app: { feed, database } }) => {
      const view = viewOf(database.prisma, filter)
      return new SharedSource(
        feed,
        'services',
        after,
        listFollower(feed, 'services', serviceListFrames(database, view)),
      )
    },
    resolve: (frame) => frame,
  }),
)

function viewOf(prisma: PrismaClient, filter: ServiceFilterValue | null | undefined): ServiceListView {
  const lasting = lastingConditions(filter)
  const statuses = filter?.statuses
  const now = [
    Prisma.sql`t."deletedAt" IS NULL`,
    ...(statuses ? [Prisma.sql`t.status = ANY(${statuses}::text[]::"ServiceStatus"[])`] : []),
  ]
  return {
    statuses: statuses ? new Set(statuses) : null,
    matching: async (ids) => {
      const conditions = [...lasting, ...(ids === null ? now : [Prisma.sql`t.id = ANY(${ids}::text[])`])]
      const rows = await prisma.$queryRaw<{ id: ServiceId }[]>(
        Prisma.sql`SELECT t.id FROM "Service" t WHERE ${Prisma.join(conditions, ' AND ')} ORDER BY t.id`,
      )
      return rows.map(({ id }) => id)
    },
  }
}
