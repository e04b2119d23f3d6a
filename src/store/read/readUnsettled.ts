import type { HostId, ServiceId, WorkerId } from '../../model/id.ts'
import type { HostAddressesIntent, WorkerIntent } from '../../model/intent.ts'
import type { HostView } from '../../model/service.ts'
import { isAliveText } from '../database/aliveReplica.ts'
import type { Database } from '../database/database.ts'

/** A service whose rows disagree with the state of a worker and its host. The intent would change it. */
export type Unsettled = { readonly serviceId: ServiceId } & (WorkerIntent | HostAddressesIntent)

// This finds the same as the intents look for, so it is empty once they are done. A service that can't be changed now,
// because it is being deleted, is left out.
const unsettledOn = (hosts: string) => `
SELECT DISTINCT u."serviceId", u.kind, u.worker, CASE WHEN u.kind = 'hostAddresses' THEN u.host END AS host FROM (
  SELECT r."serviceId", r."workerId" AS worker, CASE
    WHEN w."id" IS NULL OR w."reachability" = 'LOST' THEN 'lose'
    WHEN w."reachability" = 'UNREACHABLE' AND r."hostReachable" THEN 'unreach'
    WHEN r."hostAddresses" IS DISTINCT FROM h."addresses" THEN 'hostAddresses'
    WHEN r."state" = 'STOPPING' THEN NULL
    WHEN (h."scheduling" = 'DRAINING' OR w."draining") AND r."leaving" IS NULL AND s."deletionRequestedAt" IS NULL THEN 'drain'
    WHEN h."scheduling" <> 'DRAINING' AND NOT w."draining" AND r."leaving" = 'DRAIN' THEN 'undrain' END AS kind,
    jsonb_build_object('id', h."id", 'name', h."name", 'addresses', h."addresses") AS host
  FROM "Host" h JOIN "Replica" r ON r."hostId" = h."id" AND ${isAliveText('r')}
    LEFT JOIN "Worker" w ON w."id" = r."workerId" JOIN "Service" s ON s."id" = r."serviceId"
  WHERE ${hosts}) u
WHERE u.kind IS NOT NULL ORDER BY u.worker, u."serviceId"`

// These are two texts, because one plan for both would read every replica.
const onAll = unsettledOn('true')
const onSome = unsettledOn('h."id" = ANY (ARRAY(SELECT json_array_elements_text($1::json)))')

type Row = { readonly serviceId: ServiceId; readonly worker: WorkerId } & (
  | { readonly kind: WorkerIntent['kind']; readonly host: null }
  | { readonly kind: 'hostAddresses'; readonly host: HostView }
)

/** What the services have not been told yet of the workers of these hosts (R12, R15). */
export async function readUnsettled({ prisma }: Database, hosts: readonly HostId[] | 'all'): Promise<Unsettled[]> {
  const rows = await (hosts === 'all'
    ? prisma.$queryRawUnsafe<Row[]>(onAll)
    : prisma.$queryRawUnsafe<Row[]>(onSome, JSON.stringify(hosts)))
  return rows.map(({ serviceId, kind, worker, host }) =>
    kind === 'hostAddresses' ? { serviceId, kind, worker, host } : { serviceId, kind, worker },
  )
}
