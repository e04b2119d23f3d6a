import { groupBy } from '../../model/groupBy.ts'
import type { PlacementHost, PlacementProject, PlacementWorker, TakenPort, WaitingReplica } from '../../model/host.ts'
import type { HostId, ProjectId, ServiceId, WorkerId } from '../../model/id.ts'
import { isAliveText } from '../database/aliveReplica.ts'
import { jsonObject, selectList } from '../rows/sql.ts'
import type { Sql } from './snapshot.ts'

/** Everything that placement looks at. */
export interface PlacementState {
  readonly waiting: readonly WaitingReplica[]
  readonly hosts: readonly PlacementHost[]
  readonly projects: readonly PlacementProject[]
}

/** A client or an open transaction. */
export interface PlacementSource {
  readonly prisma: Pick<Sql, '$queryRawUnsafe'>
}

type Asked<Id> = readonly Id[] | 'all'

// Nothing here is locked, because the guards of the grants notice what has changed since. Each function reads
// everything, or some rows by their ids at a cost that grows only with those.

const millis = (column: string) => `(extract(epoch FROM ${column}) * 1000)::float8`
const asked = '(SELECT json_array_elements_text($1::json) AS id) x'

const waitingOf = (from: string) => `
SELECT json_agg(w)::text AS rows FROM (
  SELECT ${selectList<WaitingReplica>({
    id: 'r."id"',
    serviceId: 'r."serviceId"',
    serviceName: 's."name"',
    projectId: 's."projectId"',
    queuePriority: 'q."priority"',
    createdAt: millis('r."createdAt"'),
    index: 'r."index"',
    cpuMillis: 'r."cpuMillis"',
    memoryMiB: 'r."memoryMiB"',
    ports: `v."content" -> 'ports'`,
    spreadMode: `s."settings" ->> 'spreadMode'`,
    maxPerHost: `(s."settings" ->> 'maxPerHost')::int`,
    avoidHostId: 'r."avoidHostId"',
    bannedHostId: 'l."hostId"',
    holdsQuota: 'r."holdsQuota"',
    portConflicts: 'r."portConflicts"',
  })}
  FROM ${from} JOIN "Service" s ON s."id" = r."serviceId" JOIN "Queue" q ON q."id" = s."queueId"
    JOIN "ServiceVersion" v ON v."serviceId" = r."serviceId" AND v."number" = r."versionNumber"
    LEFT JOIN "Replica" l ON l."id" = r."twinOf" AND l."leaving" = 'REQUEUE' AND ${isAliveText('l')}
  WHERE r."state" = 'PENDING' AND (r."notBefore" IS NULL OR r."notBefore" <= clock_timestamp())) w`
const waitingTexts = {
  all: waitingOf('"Replica" r'),
  some: waitingOf(`${asked} JOIN "Replica" r ON r."serviceId" = x.id`),
}

/** The replicas that wait and may be placed now, by their services. A service without any is left out. */
export async function readWaiting(
  source: PlacementSource,
  services: Asked<ServiceId>,
): Promise<Map<ServiceId, WaitingReplica[]>> {
  return groupBy(await readRows<WaitingReplica>(source, waitingTexts, services), ({ serviceId }) => serviceId)
}

const hostsOf = (from: string) => `
SELECT json_agg(${jsonObject<HostRow>({
  id: 'h."id"',
  name: 'h."name"',
  addresses: 'h."addresses"',
  scheduling: 'h."scheduling"',
  reachability: 'h."reachability"',
  reason: 'h."reason"',
  allocation: 'h."allocation"',
  portFrom: 'h."portFrom"',
  portTo: 'h."portTo"',
  reservedPorts: 'h."reservedPorts"',
  lastPort: 'h."lastPort"',
  workers: `(SELECT json_agg(${jsonObject<WorkerRow>({
    id: 'k."id"',
    reachability: 'k."reachability"',
    draining: 'k."draining"',
    cpuMillis: 'k."cpuMillis"',
    memoryMiB: 'k."memoryMiB"',
  })} ORDER BY k."id" COLLATE "C") FROM "Worker" k WHERE k."hostId" = h."id")`,
  takenPorts: `(SELECT json_agg(${jsonObject<TakenPort>({
    port: 'p."port"',
    protocol: 'p."protocol"',
    quarantinedUntil: millis('p."quarantinedUntil"'),
  })}) FROM "HostPort" p WHERE p."hostId" = h."id")`,
  held: `(SELECT json_agg(json_build_array(c."serviceId", c."workerId", c.count, c.cpu, c.memory)) FROM (
    SELECT r."serviceId", r."workerId", count(*), sum(r."cpuMillis") AS cpu, sum(r."memoryMiB") AS memory FROM "Replica" r
    WHERE r."hostId" = h."id" AND ${isAliveText('r')} GROUP BY r."serviceId", r."workerId") c)`,
})} ORDER BY h."id" COLLATE "C")::text AS rows
FROM ${from} WHERE h."removedAt" IS NULL`
const hostTexts = { all: hostsOf('"Host" h'), some: hostsOf(`${asked} JOIN "Host" h ON h."id" = x.id`) }

type WorkerRow = Omit<PlacementWorker, 'usedCpuMillis' | 'usedMemoryMiB'>

type HostRow = Omit<PlacementHost, 'workers' | 'takenPorts' | 'replicasOf'> & {
  readonly workers: readonly WorkerRow[] | null
  readonly takenPorts: readonly TakenPort[] | null
  /** What the replicas of each service hold on each worker: service, worker, number, CPU and memory. */
  readonly held: readonly (readonly [ServiceId, WorkerId, number, number, number])[] | null
}

/** Hosts with what is taken of them, in the order of their ids. A removed host is left out. */
export async function readHosts(source: PlacementSource, hosts: Asked<HostId>): Promise<Map<HostId, PlacementHost>> {
  const rows = await readRows<HostRow>(source, hostTexts, hosts)
  return new Map(rows.map((row) => [row.id, hostOf(row)]))
}

function hostOf({ held, workers, takenPorts, ...row }: HostRow): PlacementHost {
  const replicasOf = new Map<ServiceId, number>()
  const used = new Map<WorkerId, { cpuMillis: number; memoryMiB: number }>()
  for (const [service, worker, count, cpuMillis, memoryMiB] of held ?? []) {
    replicasOf.set(service, (replicasOf.get(service) ?? 0) + count)
    const before = used.get(worker)
    used.set(worker, {
      cpuMillis: (before?.cpuMillis ?? 0) + cpuMillis,
      memoryMiB: (before?.memoryMiB ?? 0) + memoryMiB,
    })
  }
  return {
    ...row,
    takenPorts: takenPorts ?? [],
    replicasOf,
    workers: (workers ?? []).map((worker) => {
      const { cpuMillis = 0, memoryMiB = 0 } = used.get(worker.id) ?? {}
      return { ...worker, usedCpuMillis: cpuMillis, usedMemoryMiB: memoryMiB }
    }),
  }
}

const projectsOf = (from: string) => `
SELECT json_agg(${jsonObject<PlacementProject>({
  id: 'p."id"',
  name: 'p."name"',
  maxReplicas: 'p."maxReplicas"',
  usedReplicas: 'p."usedReplicas"',
})})::text AS rows
FROM ${from}`
const projectTexts = { all: projectsOf('"Project" p'), some: projectsOf(`${asked} JOIN "Project" p ON p."id" = x.id`) }

export async function readProjects(
  source: PlacementSource,
  projects: Asked<ProjectId>,
): Promise<Map<ProjectId, PlacementProject>> {
  const rows = await readRows<PlacementProject>(source, projectTexts, projects)
  return new Map(rows.map((row) => [row.id, row]))
}

/**
 * Everything that waits, where it could go, and the quotas. They come from one state of the database only within one
 * transaction.
 */
export async function readPlacement(source: PlacementSource): Promise<PlacementState> {
  const waiting = await readWaiting(source, 'all')
  const hosts = await readHosts(source, 'all')
  const projects = await readProjects(source, 'all')
  return { waiting: [...waiting.values()].flat(), hosts: [...hosts.values()], projects: [...projects.values()] }
}

async function readRows<Row>(
  { prisma }: PlacementSource,
  texts: { readonly all: string; readonly some: string },
  ids: Asked<string>,
): Promise<readonly Row[]> {
  const [row] = await (ids === 'all'
    ? prisma.$queryRawUnsafe<{ rows: string | null }[]>(texts.all)
    : prisma.$queryRawUnsafe<{ rows: string | null }[]>(texts.some, JSON.stringify(ids)))
  return JSON.parse(row?.rows ?? '[]') as Row[]
}
