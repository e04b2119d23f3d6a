import { Prisma } from '../../generated/prisma/client.ts'
import { builder } from '../kit/builder.ts'
import { noneLeft } from '../kit/check.ts'
import type { Filtered } from '../kit/connection/connection.ts'
import { among, filterDescription, filtered, refuseBadFilter } from '../kit/filter.ts'
import { ServiceReference, servicesNamed } from '../kit/serviceReference.ts'
import { EndReason, ReplicaState } from './replicaEnums.ts'

export const ReplicaFilter = builder.inputType('ReplicaFilter', {
  description: filterDescription('replicas'),
  fields: (t) => ({
    services: t.field({
      type: [ServiceReference],
      required: { list: false, items: true },
      description:
        'Replicas of one of these services. A name that no service holds, and an id that none has, match nothing.',
    }),
    hosts: t.stringList({ description: 'Replicas on one of the hosts with these names.' }),
    states: t.field({
      type: [ReplicaState],
      required: { list: false, items: true },
      description: 'Replicas in one of these states.',
    }),
    ready: t.boolean({ description: 'Replicas that are ready (true) or not ready (false).' }),
    versionNumbers: t.intList({ description: 'Replicas with one of these version numbers.' }),
    endReasons: t.field({
      type: [EndReason],
      required: { list: false, items: true },
      description: 'Replicas that ended for one of these reasons.',
    }),
  }),
})

/** Returns the filter as an SQL condition on the rows `t` of Replica. */
export function replicaFilterSql(filter: typeof ReplicaFilter.$inferInput | null | undefined): Filtered {
  refuseBadFilter('filter', filter)
  const { services, hosts, states, ready, versionNumbers, endReasons, ...rest } = filter ?? {}
  noneLeft(rest)
  const conditions = [
    ...among(Prisma.sql`t.state`, states, 'ReplicaState'),
    ...among(Prisma.sql`t."endReason"`, endReasons, 'EndReason'),
  ]
  if (services) conditions.push(Prisma.sql`t."serviceId" IN (${servicesNamed('filter.services', services)})`)
  if (hosts) conditions.push(Prisma.sql`t."hostId" IN (SELECT h.id FROM "Host" h WHERE h.name = ANY(${hosts}::text[]))`)
  if (typeof ready === 'boolean') conditions.push(Prisma.sql`t.ready = ${ready}`)
  if (versionNumbers) conditions.push(Prisma.sql`t."versionNumber" = ANY(${versionNumbers}::int[])`)
  return filtered(filter, conditions)
}
