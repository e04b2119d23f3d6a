import type { MissingPort, PortHolder } from '../../model/host.ts'
import type { Instant } from '../../model/id.ts'
import { type PortHolders, portKey } from '../../rules/placement/portHolders.ts'
import { jsonObject } from '../rows/sql.ts'
import type { PlacementSource } from './readPlacement.ts'

interface HolderRow extends Pick<MissingPort, 'hostId' | 'port' | 'protocol'> {
  readonly lostWorker: string | null
  readonly project: string | null
  readonly service: string | null
  readonly index: number | null
  readonly isReachable: boolean | null
  readonly stoppingAt: Instant | null
  readonly stopSeconds: number | null
}

const text = `
SELECT json_agg(${jsonObject<HolderRow>({
  hostId: 't."hostId"',
  port: 't."port"',
  protocol: 't."protocol"',
  lostWorker: 'w."name"',
  project: 'p."name"',
  service: 's."name"',
  index: 'r."index"',
  isReachable: 'r."hostReachable"',
  stoppingAt: `CASE WHEN r."state" = 'STOPPING' THEN (extract(epoch FROM r."stoppingAt") * 1000)::float8 END`,
  stopSeconds: `(v."content" -> 'stop' ->> 'drainSeconds')::int + (v."content" -> 'stop' ->> 'graceSeconds')::int`,
})})::text AS rows
FROM json_to_recordset($1::json) AS x("hostId" text, "port" int, "protocol" "PortProtocol")
JOIN "HostPort" t ON t."hostId" = x."hostId" AND t."port" = x."port" AND t."protocol" = x."protocol"
LEFT JOIN "Worker" w ON w."id" = t."lostWorkerId"
LEFT JOIN "Replica" r ON r."id" = t."replicaId"
LEFT JOIN "Service" s ON s."id" = r."serviceId"
LEFT JOIN "Project" p ON p."id" = s."projectId"
LEFT JOIN "ServiceVersion" v ON v."serviceId" = r."serviceId" AND v."number" = r."versionNumber"`

/** Finds who holds ports that a placement found taken. What has become free meanwhile is left out. */
export async function readPortHolders(
  { prisma }: PlacementSource,
  ports: readonly MissingPort[],
): Promise<PortHolders> {
  const holders = new Map<string, PortHolder>()
  if (ports.length === 0) return holders
  const asked = ports.map(({ hostId, port, protocol }) => ({ hostId, port, protocol }))
  const [found] = await prisma.$queryRawUnsafe<{ rows: string | null }[]>(text, JSON.stringify(asked))
  for (const row of JSON.parse(found?.rows ?? '[]') as HolderRow[]) {
    const holder = holderOf(row)
    if (holder !== null) holders.set(portKey(row), holder)
  }
  return holders
}

function holderOf({ lostWorker, project, service, index, ...row }: HolderRow): PortHolder | null {
  if (lostWorker !== null) return { kind: 'lostWorker', worker: lostWorker }
  if (project === null || service === null || index === null) return null
  const { stoppingAt, stopSeconds, isReachable } = row
  const seconds = stopSeconds ?? 0
  const stop =
    stoppingAt === null ? null : { seconds, goneAt: stoppingAt + seconds * 1_000, isReachable: isReachable ?? false }
  return { kind: 'replica', project, service, index, stop }
}
