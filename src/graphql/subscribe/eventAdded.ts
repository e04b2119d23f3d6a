import { type EventFrame, type EventView, eventFrames, eventsPerFrame } from '../../feed/frames/eventFrames.ts'
import { type Event as EventRow, Prisma, type PrismaClient } from '../../generated/prisma/client.ts'
import type { Revision } from '../../model/id.ts'
import { Event, EventFilter, type EventFilterValue, eventFilterSql } from '../event/event.ts'
import { builder } from '../kit/builder.ts'
import { frameFields } from './frameFields.ts'
import { followList, frameArgs } from './sources.ts'

const EventChange = builder.objectRef<EventFrame<EventRow>>('EventChange').implement({
  description: `A frame of eventAdded: every event that matches the filter after the previous frame, up to its own revision. It has at most ${eventsPerFrame}; where there are more, the next frame has them.`,
  fields: (t) => ({
    ...frameFields(t),
    events: t.field({
      type: [Event],
      description: `The events, oldest first. A SNAPSHOT has the newest ${eventsPerFrame} that match; the query \`events\` has all that are kept.`,
      resolve: (frame) => frame.events() as Promise<EventRow[]>,
    }),
  }),
})

builder.subscriptionField('eventAdded', (t) =>
  t.field({
    type: EventChange,
    description: 'Follows events: a SNAPSHOT with the newest first, then every event, in order.',
    args: {
      filter: t.arg({ type: EventFilter, description: 'Which ones to return; all when left out.' }),
      ...frameArgs,
    },
    subscribe: (_root, { filter, ...wishes }, context) => {
      const { database } = context.app
      return followList(context, 'events', wishes, eventFrames(database, viewOf(database.prisma, filter)))
    },
    resolve: (frame) => frame,
  }),
)

function viewOf(prisma: PrismaClient, filter: EventFilterValue | null | undefined): EventView<EventRow> {
  const { sql } = eventFilterSql(filter)
  const where = (after: Revision, upTo: Revision) =>
    Prisma.sql`t.revision > ${after} AND t.revision <= ${upTo} ${sql === null ? Prisma.empty : Prisma.sql`AND ${sql}`}`
  return {
    newest: (upTo, most) =>
      prisma.$queryRaw`SELECT * FROM (SELECT t.* FROM "Event" t WHERE ${where(0n, upTo)} ORDER BY t.revision DESC LIMIT ${most}) n ORDER BY n.revision`,
    all: (after, upTo) => prisma.$queryRaw`SELECT t.* FROM "Event" t WHERE ${where(after, upTo)} ORDER BY t.revision`,
    revisions: async (after, upTo) => {
      const text = Prisma.sql`SELECT t.revision FROM "Event" t WHERE ${where(after, upTo)} ORDER BY t.revision`
      return (await prisma.$queryRaw<{ revision: Revision }[]>(text)).map(({ revision }) => revision)
    },
  }
}
