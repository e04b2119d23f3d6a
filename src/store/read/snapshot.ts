import type { Prisma } from '../../generated/prisma/client.ts'
import type { PlacementProject } from '../../model/host.ts'
import type { HostId, ReplicaId, Revision, ServiceId } from '../../model/id.ts'
import type { NamedHost, Replica, ServiceSnapshot } from '../../model/service.ts'
import { isAliveText } from '../database/aliveReplica.ts'
import {
  decodeRow,
  identityColumns,
  type JsonRow,
  replicaColumns,
  rolloutColumns,
  serviceColumns,
  slotColumns,
  timerColumns,
  versionColumns,
} from '../rows/columns.ts'
import { jsonObject } from '../rows/sql.ts'

/** A client or an open transaction. */
export type Sql = Pick<Prisma.TransactionClient, '$queryRawUnsafe' | '$executeRawUnsafe'>

// One statement reads one state of the database, so the guard belongs to the rows. Ended replicas are history, and are
// not read.
const aliveOf = `r."serviceId" = s."id" AND ${isAliveText('r')}`
const snapshotOf = `${jsonObject<Loaded>({
  service: 'to_json(s)',
  revision: 's."revision"::text',
  specRevision: 's."specRevision"::text',
  project: `(SELECT ${jsonObject<Loaded['project']>({ name: 'p."name"', maxReplicas: 'p."maxReplicas"' })}
    FROM "Project" p WHERE p."id" = s."projectId")`,
  replicas: `(SELECT json_agg(r ORDER BY r."id" COLLATE "C") FROM "Replica" r WHERE ${aliveOf})`,
  rollout: 'to_json(o)',
  versions: `(SELECT json_agg(v ORDER BY v."number") FROM "ServiceVersion" v WHERE v."serviceId" = s."id" AND (
    v."number" IN (s."versionNumber", o."fromVersion", o."toVersion", s."completedVersion", s."previousVersion", s."provenVersion")
    OR v."number" IN (SELECT r."versionNumber" FROM "Replica" r WHERE ${aliveOf})))`,
  contents: `(SELECT json_agg(json_build_array(v."contentDigest", v."number") ORDER BY v."number") FROM "ServiceVersion" v
    WHERE v."serviceId" = s."id" AND v."number" = v."contentNumber")`,
  lastVersion: '(SELECT max(v."number") FROM "ServiceVersion" v WHERE v."serviceId" = s."id")',
  slots: '(SELECT json_agg(x ORDER BY x."index", x."contentNumber") FROM "Slot" x WHERE x."serviceId" = s."id")',
  timers: '(SELECT json_agg(t) FROM "Timer" t WHERE t."serviceId" = s."id")',
  hosts: `(SELECT json_agg(${jsonObject<NamedHost>({ id: 'h."id"', name: 'h."name"' })}) FROM "Host" h
    WHERE h."id" IN (SELECT r."hostId" FROM "Replica" r WHERE ${aliveOf}))`,
})}::text AS snapshot`
const loadText = `SELECT ${snapshotOf}
FROM "Service" s JOIN "Rollout" o ON o."serviceId" = s."id" AND o."number" = s."rolloutNumber"
WHERE s."id" IN (SELECT json_array_elements_text($1::json))`

const loadWithHeadText = `SELECT e."head"::text AS head, ${snapshotOf}
FROM "Feed" e, "Service" s JOIN "Rollout" o ON o."serviceId" = s."id" AND o."number" = s."rolloutNumber" WHERE e."id" = 1
  AND s."id" IN (SELECT json_array_elements_text($1::json))`

interface Loaded {
  readonly service: JsonRow
  readonly revision: string
  readonly specRevision: string
  readonly project: Pick<PlacementProject, 'name' | 'maxReplicas'>
  readonly replicas: readonly JsonRow[] | null
  readonly rollout: JsonRow
  readonly versions: readonly JsonRow[]
  readonly lastVersion: number
  readonly contents: readonly (readonly [string, number])[]
  readonly slots: readonly JsonRow[] | null
  readonly timers: readonly JsonRow[] | null
  readonly hosts: readonly NamedHost[] | null
}

/** Reads services as their rules see them, all from one state of the database. Ids that do not exist are left out. */
export async function loadSnapshots(sql: Sql, ids: readonly ServiceId[]): Promise<Map<ServiceId, ServiceSnapshot>> {
  const rows = await sql.$queryRawUnsafe<{ snapshot: string }[]>(loadText, JSON.stringify(ids))
  return new Map(
    rows.map((row) => {
      const snapshot = toSnapshot(JSON.parse(row.snapshot) as Loaded)
      return [snapshot.id, snapshot]
    }),
  )
}

/** Reads services and the fact log's head, all from one state of the database. Ids that do not exist are left out. */
export async function loadWithHead(
  sql: Sql,
  ids: readonly ServiceId[],
): Promise<readonly { readonly head: Revision; readonly snapshot: ServiceSnapshot }[]> {
  const rows = await sql.$queryRawUnsafe<{ head: string; snapshot: string }[]>(loadWithHeadText, JSON.stringify(ids))
  return rows.map((row) => ({ head: BigInt(row.head), snapshot: toSnapshot(JSON.parse(row.snapshot) as Loaded) }))
}

function toSnapshot(loaded: Loaded): ServiceSnapshot {
  const { service } = loaded
  const versions = loaded.versions.map((row) => decodeRow(versionColumns, row))
  const replicas = (loaded.replicas ?? []).map((row) => decodeRow(replicaColumns, row))
  const timers = (loaded.timers ?? []).map((row) => decodeRow(timerColumns, row))
  return {
    ...decodeRow(identityColumns, service),
    projectName: loaded.project.name,
    maxReplicas: loaded.project.maxReplicas,
    guard: service['guard'] as number,
    revision: BigInt(loaded.revision),
    specRevision: BigInt(loaded.specRevision),
    columns: decodeRow(serviceColumns, service),
    versions: new Map(versions.map((version) => [version.number, version])),
    lastVersion: loaded.lastVersion,
    contents: new Map(loaded.contents),
    replicas: new Map<ReplicaId, Replica>(replicas.map((replica) => [replica.id, replica])),
    slots: (loaded.slots ?? []).map((row) => decodeRow(slotColumns, row)),
    rollout: decodeRow(rolloutColumns, loaded.rollout),
    hosts: new Map<HostId, NamedHost>((loaded.hosts ?? []).map((host) => [host.id, host])),
    timers: new Map(timers.map(({ kind, dueAt }) => [kind, dueAt])),
  }
}
