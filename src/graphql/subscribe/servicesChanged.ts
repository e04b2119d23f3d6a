import { type ServiceListFrame, type ServiceListView, serviceListFrames } from '../../feed/frames/serviceListFrames.ts'
import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts'
import type { ServiceId } from '../../model/id.ts'
import { builder } from '../kit/builder.ts'
import { allOf } from '../kit/filter.ts'
import { encodeGlobalId } from '../kit/globalId.ts'
import {
  changingConditions,
  lastingConditions,
  presentConditions,
  ServiceFilter,
  type ServiceFilterValue,
} from '../service/serviceFilter.ts'
import { partFields } from './frameFields.ts'
import { followList, frameArgs } from './sources.ts'

const ServiceListChange = builder.objectRef<ServiceListFrame>('ServiceListChange').implement({
  description:
    'A frame of servicesChanged, in parts where there are many. It covers every change after the previous frame, up to its own revision.',
  fields: (t) => ({
    ...partFields(t, 'services'),
    services: t.prismaField({
      type: ['Service'],
      description:
        'A SNAPSHOT has all services that match the filter, a DELTA those that changed or came to match it. They are read now, and are never older than the revision.',
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
      description:
        'The ids of services that no longer match the filter, or are gone. Where the filter names labels or queues, one that changed and does not match them may never have matched.',
      resolve: ({ removed }) => removed.map((id) => encodeGlobalId('Service', id)),
    }),
  }),
})

builder.subscriptionField('servicesChanged', (t) =>
  t.field({
    type: ServiceListChange,
    description: 'Follows the services that match a filter: a SNAPSHOT first, then every change.',
    args: {
      filter: t.arg({ type: ServiceFilter, description: 'Which ones to return; all when left out.' }),
      ...frameArgs,
    },
    subscribe: (_root, { filter, ...wishes }, context) => {
      const { database } = context.app
      const view = viewOf(database.prisma, filter)
      return followList(context, 'services', wishes, serviceListFrames(database, view))
    },
    resolve: (frame) => frame,
  }),
)

function viewOf(prisma: PrismaClient, filter: ServiceFilterValue | null | undefined): ServiceListView {
  const lasting = lastingConditions(filter)
  const changing = changingConditions(filter)
  const statuses = filter?.statuses
  const idsWhere = async (conditions: readonly Prisma.Sql[]) => {
    const rows = await prisma.$queryRaw<{ id: ServiceId }[]>(
      Prisma.sql`SELECT t.id FROM "Service" t WHERE ${allOf(conditions)} ORDER BY t.id`,
    )
    return rows.map(({ id }) => id)
  }
  const among = (ids: readonly ServiceId[]) => Prisma.sql`t.id = ANY(${ids}::text[])`
  return {
    statuses: statuses ? new Set(statuses) : null,
    matching: (ids) => idsWhere([...lasting, ...(ids === null ? presentConditions(filter) : [among(ids)])]),
    present: changing.length === 0 ? null : (ids) => idsWhere([...changing, among(ids)]),
  }
}
