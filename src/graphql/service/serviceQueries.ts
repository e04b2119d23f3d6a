import type { Service as ServiceRow } from '../../generated/prisma/client.ts'
import { builder } from '../kit/builder.ts'
import { connectionOf } from '../kit/connection/connection.ts'
import { orderOf } from '../kit/connection/order.ts'
import { whereOf } from '../kit/lookup.ts'
import { idDescription, refuseFaults } from '../kit/reference.ts'
import { serviceFaults } from '../kit/serviceReference.ts'
import { Service, ServiceConnection } from './service.ts'
import { ServiceFilter, serviceFilterSql } from './serviceFilter.ts'

const order = orderOf({
  type: 'Service',
  things: 'services',
  choices: {
    NAME: { column: 'name', type: 'text', description: 'The name.' },
    CREATED_AT: { column: 'createdAt', type: 'timestamptz', description: 'The instant of creation.' },
    STATUS: {
      column: 'status',
      type: 'ServiceStatus',
      description:
        'The status, from HEALTHY by PROGRESSING, DEGRADED, PAUSED, STALLED and CRASH_LOOP to STOPPED and DELETING.',
    },
  },
  listing: { name: 'Query.services', table: 'Service', parent: null },
})

builder.queryFields((t) => ({
  service: t.prismaField({
    type: 'Service',
    nullable: true,
    description: 'The service that holds this name, or has this id; null when there is none.',
    args: {
      name: t.arg.string({ description: "The service's name. Give it or the id." }),
      project: t.arg.string({
        description: "The project's name; default when it is left out. Give it only beside the name.",
      }),
      id: t.arg.id({ description: idDescription('Service') }),
    },
    resolve: (query, _root, reference, { app }) => {
      refuseFaults('service', serviceFaults(reference))
      const where = whereOf(reference)
      return where === null ? null : app.database.prisma.service.findFirst({ ...query, where })
    },
  }),
  services: t.connection(
    {
      type: Service,
      description: 'All services that exist.',
      args: {
        filter: t.arg({ type: ServiceFilter, description: 'Which ones to return; all when left out.' }),
        orderBy: t.arg({ type: order.input, description: order.description }),
      },
      resolve: (_root, args, context) =>
        connectionOf<ServiceRow>(context, order.listingBy(args.orderBy), null, args, serviceFilterSql(args.filter)),
    },
    ServiceConnection,
  ),
}))
