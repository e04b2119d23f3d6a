import type { Service as ServiceRow } from '../../generated/prisma/client.ts'
import { builder } from '../kit/builder.ts'
import { noneLeft } from '../kit/check.ts'
import { connectionOf } from '../kit/connection/connection.ts'
import type { Listing } from '../kit/connection/listing.ts'
import { enumOf } from '../kit/enumOf.ts'
import { whereOf } from '../kit/lookup.ts'
import { idDescription, refuseFaults } from '../kit/reference.ts'
import { serviceFaults } from '../kit/serviceReference.ts'
import { Service, ServiceConnection } from './service.ts'
import { ServiceFilter, serviceFilterSql } from './serviceFilter.ts'

type OrderField = 'NAME' | 'CREATED_AT' | 'STATUS'
type Direction = 'ASC' | 'DESC'

const ServiceOrderField = enumOf<OrderField>('ServiceOrderField', 'The fields that services can be ordered by.', {
  NAME: 'The name, and then the id.',
  CREATED_AT: 'The instant of creation, and then the id.',
  STATUS:
    'The status, from HEALTHY by PROGRESSING, DEGRADED, PAUSED, STALLED and CRASH_LOOP to STOPPED and DELETING, and then the id.',
})

const OrderDirection = enumOf<Direction>('OrderDirection', 'The direction of an order.', {
  ASC: 'From the least to the greatest.',
  DESC: 'From the greatest to the least.',
})

const ServiceOrder = builder.inputType('ServiceOrder', {
  description: 'The order of services.',
  fields: (t) => ({
    field: t.field({ type: ServiceOrderField, required: true, description: 'The field to order by.' }),
    direction: t.field({ type: OrderDirection, required: true, description: 'The direction of the order.' }),
  }),
})

const firstColumn = {
  NAME: { column: 'name', type: 'text' },
  CREATED_AT: { column: 'createdAt', type: 'timestamptz' },
  STATUS: { column: 'status', type: 'ServiceStatus' },
} as const

function servicesBy({ field, direction, ...rest }: typeof ServiceOrder.$inferInput): Listing {
  noneLeft(rest)
  const order = [firstColumn[field], { column: 'id', type: 'text' }] as const
  return { name: 'Query.services', table: 'Service', parent: null, order, descending: direction === 'DESC' }
}

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
        orderBy: t.arg({ type: ServiceOrder, description: 'The order; by name when left out.' }),
      },
      resolve: (_root, args, context) =>
        connectionOf<ServiceRow>(
          context,
          servicesBy(args.orderBy ?? { field: 'NAME', direction: 'ASC' }),
          null,
          args,
          serviceFilterSql(args.filter),
        ),
    },
    ServiceConnection,
  ),
}))
