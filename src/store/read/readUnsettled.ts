import type { HostId, ServiceId, WorkerId } from '../../model/id.ts'
import type { HostAddressesIntent, WorkerIntent } from '../../model/intent.ts'
import type { HostView } from '../../model/service.ts'
import { isAliveText } from '../database/aliveReplica.ts'
import type { Database } from '../database/database.ts'

/** A service that the state of a worker and its host says something else of than its rows do: the intent would change it. */
export type Unsettled = { readonly serviceId: ServiceId } & (WorkerIntent | HostAddressesIntent)

// The same as the intents look for, and so empty once they are done. One that can't be done now (a service that is being deleted) is left out.
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

// Two texts: one plan for both would read every replica there is.
const onAll = unsettledOn('true')
const onSome = unsettledOn('h."id" = ANY (ARRAY(SELECT json_array_elements_text($1::json)))')

type Row = { readonly serviceId: ServiceId; readonly worker: WorkerId } & (
  | { readonly kind: WorkerIntent['kind']; readonly host: null }
  | { readonly kind: 'hostAddresses'; readonly host: HostView }
)

/** What the services still have to be told of the workers of these hosts (R12, R15). */
export async function readUnsettled({ prisma }: Database, hosts: readonly HostId[] | 'all'): Promise<Unsettled[]> {
  const rows = await (hosts === 'all'
    ? prisma.$queryRawUnsafe<Row[]>(onAll)
    : prisma.$queryRawUnsafe<Row[]>(onSome, JSON.stringify(hosts)))
  return rows.map(({ serviceId, kind, worker, host }) =>
    kind === 'hostAddresses' ? { serviceId, kind, worker, host } : { serviceId, kind, worker },
  )
}
