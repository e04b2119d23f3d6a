import type { PlacementHost, PlacementProject, WaitingReplica } from '../model/host.ts'
import type { ServiceId } from '../model/id.ts'
import type { Sql } from './snapshot.ts'

/** All that placement looks at, of one state of the database. */
export interface PlacementState {
  readonly waiting: readonly WaitingReplica[]
  readonly hosts: readonly PlacementHost[]
  readonly projects: readonly PlacementProject[]
}

const millis = (column: string) => `(extract(epoch FROM ${column}) * 1000)::float8`

// Replicas per host are counted of services that wait only: no other count can matter.
const text = `
WITH waiting AS MATERIALIZED (
  SELECT r."id", r."serviceId", s."name" AS "serviceName", s."projectId", q."priority" AS "queuePriority", ${millis('r."createdAt"')} AS "createdAt",
    r."index", r."cpuMillis", r."memoryMiB", v."content" -> 'ports' AS ports, s."settings" ->> 'spreadMode' AS "spreadMode",
    (s."settings" ->> 'maxPerHost')::int AS "maxPerHost", r."avoidHostId", r."holdsQuota"
  FROM "Replica" r JOIN "Service" s ON s."id" = r."serviceId" JOIN "Queue" q ON q."id" = s."queueId"
    JOIN "ServiceVersion" v ON v."serviceId" = r."serviceId" AND v."number" = r."versionNumber"
  WHERE r."state" = 'PENDING' AND (r."notBefore" IS NULL OR r."notBefore" <= clock_timestamp()))
SELECT (SELECT json_agg(w) FROM waiting w)::text AS waiting,
  (SELECT json_agg(json_build_object('id', h."id", 'name', h."name", 'addresses', h."addresses", 'scheduling', h."scheduling",
    'reachability', h."reachability", 'allocation', h."allocation", 'cpuMillis', h."cpuMillis", 'memoryMiB', h."memoryMiB",
    'usedCpuMillis', h."usedCpuMillis", 'usedMemoryMiB', h."usedMemoryMiB", 'portFrom', h."portFrom", 'portTo', h."portTo",
    'reservedPorts', h."reservedPorts", 'lastPort', h."lastPort",
    'takenPorts', (SELECT json_agg(json_build_object('port', p."port", 'protocol', p."protocol", 'quarantinedUntil', ${millis('p."quarantinedUntil"')}))
      FROM "HostPort" p WHERE p."hostId" = h."id"),
    'replicasOf', (SELECT json_agg(json_build_array(c."serviceId", c.count)) FROM (
      SELECT r."serviceId", count(*) FROM "Replica" r
      WHERE r."hostId" = h."id" AND r."state" IN ('PENDING', 'STARTING', 'RUNNING', 'STOPPING') AND r."serviceId" IN (SELECT "serviceId" FROM waiting)
      GROUP BY r."serviceId") c))) FROM "Host" h WHERE h."removedAt" IS NULL)::text AS hosts,
  (SELECT json_agg(json_build_object('id', p."id", 'name', p."name", 'maxReplicas', p."maxReplicas", 'usedReplicas', p."usedReplicas"))
    FROM "Project" p WHERE p."id" IN (SELECT "projectId" FROM waiting))::text AS projects`

type HostRow = Omit<PlacementHost, 'takenPorts' | 'replicasOf'> & {
  readonly takenPorts: PlacementHost['takenPorts'] | null
  readonly replicasOf: readonly (readonly [ServiceId, number])[] | null
}

interface Row {
  readonly waiting: string | null
  readonly hosts: string | null
  readonly projects: string | null
}

/** What waits (and may be placed now), where it could go, and the quotas. Nothing is locked: the grants' guards tell what has changed since. */
export async function readPlacement({ prisma }: { readonly prisma: Pick<Sql, '$queryRawUnsafe'> }): Promise<PlacementState> {
  const [row] = await prisma.$queryRawUnsafe<Row[]>(text)
  const hosts = JSON.parse(row?.hosts ?? '[]') as HostRow[]
  return {
    waiting: JSON.parse(row?.waiting ?? '[]') as WaitingReplica[],
    hosts: hosts.map((host) => ({ ...host, takenPorts: host.takenPorts ?? [], replicasOf: new Map(host.replicasOf ?? []) })),
    projects: JSON.parse(row?.projects ?? '[]') as PlacementProject[],
  }
}
