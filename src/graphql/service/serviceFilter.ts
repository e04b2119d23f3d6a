import { Prisma } from '../../generated/prisma/client.ts'
import { builder } from '../kit/builder.ts'
import { noneLeft } from '../kit/check.ts'
import type { Filtered } from '../kit/connection/connection.ts'
import { among, filterDescription, filtered, refuseBadFilter } from '../kit/filter.ts'
import { ServiceStatus } from './service.ts'

const LabelSelectorInput = builder.inputType('LabelSelectorInput', {
  description: 'Selects by a label.',
  fields: (t) => ({
    key: t.string({ required: true, description: 'The key that the labels must have.' }),
    values: t.stringList({
      description: 'The values of which the label must have one; any value will do when they are left out.',
    }),
  }),
})

export const ServiceFilter = builder.inputType('ServiceFilter', {
  description: filterDescription('services'),
  fields: (t) => ({
    names: t.stringList({ description: 'Services with one of these names.' }),
    nameStartsWith: t.string({ description: 'Services whose name starts with this text.' }),
    projects: t.stringList({ description: 'Services in one of the projects with these names.' }),
    profiles: t.stringList({ description: 'Services that run a revision of one of the profiles with these names.' }),
    labels: t.field({
      type: [LabelSelectorInput],
      required: { list: false, items: true },
      description: 'Services whose labels meet all of these selectors.',
    }),
    queues: t.stringList({ description: 'Services in one of the queues with these names.' }),
    owners: t.stringList({ description: 'Services that one of these subjects owns.' }),
    statuses: t.field({
      type: [ServiceStatus],
      required: { list: false, items: true },
      description: 'Services with one of these statuses.',
    }),
  }),
})

export type ServiceFilterValue = typeof ServiceFilter.$inferInput

/** Returns the filter as an SQL condition on the rows `t` of Service. Deleted services are left out. */
export function serviceFilterSql(filter: ServiceFilterValue | null | undefined): Filtered {
  return filtered(filter, [...presentConditions(filter), ...changingConditions(filter), ...lastingConditions(filter)])
}

/** The conditions that can change in a service's life and that facts tell: that it is there, and its status. */
export function presentConditions(filter: ServiceFilterValue | null | undefined): Prisma.Sql[] {
  return [Prisma.sql`t."deletedAt" IS NULL`, ...among(Prisma.sql`t.status`, filter?.statuses, 'ServiceStatus')]
}

/** The conditions that a user can change in a service's life: its queue and its labels. */
export function changingConditions(filter: ServiceFilterValue | null | undefined): Prisma.Sql[] {
  const { queues, labels } = filter ?? {}
  const ofQueues = queues
    ? [Prisma.sql`t."queueId" IN (SELECT q.id FROM "Queue" q WHERE q.name = ANY(${queues}::text[]))`]
    : []
  return [...ofQueues, ...(labels ?? []).map(labelled)]
}

/** The conditions of the filter that hold for all of a service's life or never, which are all others. */
export function lastingConditions(filter: ServiceFilterValue | null | undefined): Prisma.Sql[] {
  refuseBadFilter('filter', filter)
  const given: ServiceFilterValue = filter ?? {}
  const { projects, profiles, names, nameStartsWith, owners, queues: _, statuses: __, labels: ___, ...rest } = given
  noneLeft(rest)
  const conditions = [...among(Prisma.sql`t.name`, names), ...among(Prisma.sql`t.owner`, owners)]
  if (projects)
    conditions.push(Prisma.sql`t."projectId" IN (SELECT p.id FROM "Project" p WHERE p.name = ANY(${projects}::text[]))`)
  if (typeof nameStartsWith === 'string') conditions.push(Prisma.sql`starts_with(t.name, ${nameStartsWith})`)
  if (profiles)
    conditions.push(
      Prisma.sql`t."profileRevisionId" IN (SELECT r.id FROM "ProfileRevision" r JOIN "Profile" p ON p.id = r."profileId" WHERE p.name = ANY(${profiles}::text[]))`,
    )
  return conditions
}

/** The index on the labels serves both forms. */
function labelled({ key, values, ...rest }: typeof LabelSelectorInput.$inferInput): Prisma.Sql {
  noneLeft(rest)
  if (!values) return Prisma.sql`t.labels ? ${key}::text`
  const wanted = values.map((value) => JSON.stringify({ [key]: value }))
  return Prisma.sql`t.labels @> ANY(${wanted}::jsonb[])`
}
