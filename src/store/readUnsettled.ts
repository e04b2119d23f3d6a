import type { HostId, ServiceId, WorkerId } from '../model/id.ts'
import type { WorkerIntent } from '../model/intent.ts'
import type { Database } from './database.ts'

/** A service that the state of a worker and its host says something else of than its rows do: the intent would change it. */
export interface Unsettled {
  readonly serviceId: ServiceId
  readonly kind: WorkerIntent['kind']
  readonly worker: WorkerId
}

// The same as the intents look for, and so empty once they are done. One that can't be done now (a service that is being deleted) is left out.
const text = `
SELECT DISTINCT u."serviceId", u.kind, u.worker FROM (
  SELECT r."serviceId", r."workerId" AS worker, CASE
    WHEN w."id" IS NULL OR w."reachability" = 'LOST' THEN 'lose'
    WHEN w."reachability" = 'UNREACHABLE' AND r."hostReachable" THEN 'unreach'
    WHEN r."state" = 'STOPPING' THEN NULL
    WHEN (h."scheduling" = 'DRAINING' OR w."draining") AND r."leaving" IS NULL AND s."deletionRequestedAt" IS NULL THEN 'drain'
    WHEN h."scheduling" <> 'DRAINING' AND NOT w."draining" AND r."leaving" = 'DRAIN' THEN 'undrain' END AS kind
  FROM "Host" h JOIN "Replica" r ON r."hostId" = h."id" AND r."state" IN ('PENDING', 'STARTING', 'RUNNING', 'STOPPING')
    LEFT JOIN "Worker" w ON w."id" = r."workerId" JOIN "Service" s ON s."id" = r."serviceId"
  WHERE r."workerId" IS NOT NULL AND ($1::json IS NULL OR h."id" IN (SELECT json_array_elements_text($1::json)))) u
WHERE u.kind IS NOT NULL ORDER BY u.worker, u."serviceId"`

/** What the services still have to be told of the workers of these hosts (R15). */
export function readUnsettled({ prisma }: Database, hosts: readonly HostId[] | 'all'): Promise<Unsettled[]> {
  return prisma.$queryRawUnsafe<Unsettled[]>(text, hosts === 'all' ? null : JSON.stringify(hosts))
}
