import { Prisma } from '../../generated/prisma/client.ts'
import { builder } from '../kit/builder.ts'
import { noneLeft } from '../kit/check.ts'
import type { Filtered } from '../kit/connection/connection.ts'
import { ServiceKey } from '../kit/serviceKey.ts'
import { refuseUnstorable } from '../kit/storableText.ts'
import { EndReason, ReplicaState } from './replicaEnums.ts'

export const ReplicaFilter = builder.inputType('ReplicaFilter', {
  description: 'Selects replicas that meet all given conditions. An empty list matches none.',
  fields: (t) => ({
    services: t.field({
      type: [ServiceKey],
      required: { list: false, items: true },
      description: 'Replicas of one of these services. A name that no service holds matches nothing.',
    }),
    states: t.field({
      type: [ReplicaState],
      required: { list: false, items: true },
      description: 'In one of these states.',
    }),
    ready: t.boolean({ description: 'Replicas that are ready (true) or not ready (false).' }),
    versionNumber: t.int({ description: 'Replicas with this version number.' }),
    hostName: t.string({ description: 'Replicas on the host with this name.' }),
    endReasons: t.field({
      type: [EndReason],
      required: { list: false, items: true },
      description: 'Replicas that ended for one of these reasons.',
    }),
  }),
})

/** Returns the filter as an SQL condition on the rows `t` of Replica. */
export function replicaFilterSql(filter: typeof ReplicaFilter.$inferInput | null | undefined): Filtered {
  if (filter === null || filter === undefined) return { sql: null, key: '' }
  refuseUnstorable('filter', filter)
  const conditions: Prisma.Sql[] = []
  const { services, states, ready, versionNumber, hostName, endReasons, ...rest } = filter
  noneLeft(rest)
  if (services) {
    const projects = services.map((service) => service.project)
    const names = services.map((service) => service.name)
    conditions.push(Prisma.sql`t."serviceId" IN (
      SELECT s.id FROM unnest(${projects}::text[], ${names}::text[]) AS wanted(project, name)
      JOIN "Project" p ON p.name = wanted.project JOIN "Service" s ON s."projectId" = p.id AND s."heldName" = wanted.name)`)
  }
  if (states) conditions.push(Prisma.sql`t.state = ANY(${states}::text[]::"ReplicaState"[])`)
  if (typeof ready === 'boolean') conditions.push(Prisma.sql`t.ready = ${ready}`)
  if (typeof versionNumber === 'number') conditions.push(Prisma.sql`t."versionNumber" = ${versionNumber}::int`)
  if (typeof hostName === 'string')
    conditions.push(Prisma.sql`t."hostId" = (SELECT h.id FROM "Host" h WHERE h.name = ${hostName})`)
  if (endReasons) conditions.push(Prisma.sql`t."endReason" = ANY(${endReasons}::text[]::"EndReason"[])`)
  return { sql: conditions.length === 0 ? null : Prisma.join(conditions, ' AND '), key: JSON.stringify(filter) }
}
