import { Prisma, type Service as ServiceRow } from '../../generated/prisma/client.ts'
import { builder } from '../kit/builder.ts'
import { noneLeft } from '../kit/check.ts'
import { connectionOf, type Filtered } from '../kit/connection/connection.ts'
import type { Listing } from '../kit/connection/listing.ts'
import { enumOf } from '../kit/enumOf.ts'
import { refuseUnstorable, storable } from '../kit/storableText.ts'
import { Service, ServiceConnection, ServiceStatus } from './service.ts'

export const ServiceFilter = builder.inputType('ServiceFilter', {
  description: 'Selects services that meet all given conditions. An empty list matches none.',
  fields: (t) => ({
    projects: t.stringList({ description: 'Services in one of the projects with these names.' }),
    names: t.stringList({ description: 'Services with one of these names.' }),
    nameStartsWith: t.string({ description: 'Services whose name starts with this text.' }),
    statuses: t.field({
      type: [ServiceStatus],
      required: { list: false, items: true },
      description: 'In one of these states.',
    }),
    owner: t.string({ description: 'Services that this subject created.' }),
    queue: t.string({ description: 'Services in the queue with this name.' }),
  }),
})

export type ServiceFilterValue = typeof ServiceFilter.$inferInput

type OrderField = 'NAME' | 'CREATED_AT'
type Direction = 'ASC' | 'DESC'

const ServiceOrderField = enumOf<OrderField>('ServiceOrderField', 'The fields that services can be ordered by.', {
  NAME: 'The name, and then the id.',
  CREATED_AT: 'The instant of creation, and then the id.',
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
} as const

function servicesBy({ field, direction, ...rest }: typeof ServiceOrder.$inferInput): Listing {
  noneLeft(rest)
  const order = [firstColumn[field], { column: 'id', type: 'text' }] as const
  return { name: 'Query.services', table: 'Service', parent: null, order, descending: direction === 'DESC' }
}

/** Returns the filter as an SQL condition on the rows `t` of Service. Deleted services are left out. */
function serviceFilterSql(filter: ServiceFilterValue | null | undefined): Filtered {
  const conditions = [Prisma.sql`t."deletedAt" IS NULL`, ...lastingConditions(filter)]
  if (filter?.statuses) conditions.push(Prisma.sql`t.status = ANY(${filter.statuses}::text[]::"ServiceStatus"[])`)
  return { sql: Prisma.join(conditions, ' AND '), key: JSON.stringify(filter ?? null) }
}

/** The conditions of the filter that hold for all of a service's life or never, which are all except its status. */
export function lastingConditions(filter: ServiceFilterValue | null | undefined): Prisma.Sql[] {
  refuseUnstorable('filter', filter)
  const given: ServiceFilterValue = filter ?? {}
  const { projects, names, nameStartsWith, owner, queue, statuses: _, ...rest } = given
  noneLeft(rest)
  const conditions: Prisma.Sql[] = []
  if (projects)
    conditions.push(Prisma.sql`t."projectId" IN (SELECT p.id FROM "Project" p WHERE p.name = ANY(${projects}::text[]))`)
  if (names) conditions.push(Prisma.sql`t.name = ANY(${names}::text[])`)
  if (typeof nameStartsWith === 'string') conditions.push(Prisma.sql`starts_with(t.name, ${nameStartsWith})`)
  if (typeof owner === 'string') conditions.push(Prisma.sql`t.owner = ${owner}`)
  if (typeof queue === 'string')
    conditions.push(Prisma.sql`t."queueId" = (SELECT q.id FROM "Queue" q WHERE q.name = ${queue})`)
  return conditions
}

builder.queryFields((t) => ({
  service: t.prismaField({
    type: 'Service',
    nullable: true,
    description: 'The service that holds this name; null when there is none.',
    args: {
      project: t.arg.string({ required: true, defaultValue: 'default', description: "The project's name." }),
      name: t.arg.string({ required: true, description: "The service's name." }),
    },
    resolve: (query, _root, { project, name }, { app }) =>
      storable(project) && storable(name)
        ? app.database.prisma.service.findFirst({ ...query, where: { heldName: name, project: { name: project } } })
        : null,
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
