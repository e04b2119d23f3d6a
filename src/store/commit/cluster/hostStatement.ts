import type { WorkerTransition } from '../../../rules/hosts/hostTransition.ts'
import { type Columns, columnsOf } from '../../rows/columns.ts'
import { typedColumns } from '../../rows/sql.ts'
import { type ClusterStatement, now, since } from './clusterStatement.ts'

const host = columnsOf('Host')
const worker = columnsOf('Worker')

const nextColumns: Columns<WorkerTransition> = {
  id: worker.id,
  reachability: worker.reachability,
  reason: worker.reason,
  held: worker.held,
  draining: worker.draining,
  fences: 'boolean',
  clean: 'boolean',
  removes: 'boolean',
}

// A judgement of a silent worker (with `serverId`) holds while the lease was not renewed and the judging server is
// healthy. A report of a worker holds while its epoch does.
export const hostChange = {
  input: {
    hostId: host.id,
    allocation: host.allocation,
    scheduling: host.scheduling,
    reachability: host.reachability,
    reason: host.reason,
    cpuMillis: host.cpuMillis,
    memoryMiB: host.memoryMiB,
    removes: 'boolean',
    workers: 'jsonb',
    workerId: worker.id,
    epoch: worker.epoch,
    leaseUntil: 'timestamptz(3)',
    serverId: columnsOf('Server').id,
    heartbeatSeconds: 'float8',
  },
  guard: `
next AS MATERIALIZED (
  SELECT w.* FROM input x, jsonb_to_recordset(x."workers") AS w(${typedColumns(nextColumns)})),
host_lock AS MATERIALIZED (
  SELECT t."id" FROM "Host" t JOIN input x ON x."hostId" = t."id" AND t."allocation" = x."allocation" - 1 FOR NO KEY UPDATE OF t),
worker_lock AS MATERIALIZED (
  SELECT t."id", t."epoch", t."leaseUntil" FROM "Worker" t JOIN input x ON x."hostId" = t."hostId" WHERE (SELECT count(*) FROM host_lock) >= 0
  ORDER BY t."id" FOR NO KEY UPDATE OF t),
guard AS MATERIALIZED (
  SELECT 1 FROM input x CROSS JOIN host_lock h LEFT JOIN worker_lock w ON w."id" = x."workerId"
  WHERE (x."leaseUntil" IS NULL OR w."leaseUntil" = x."leaseUntil") AND (x."epoch" IS NULL OR w."epoch" = x."epoch")
    AND (x."serverId" IS NULL OR EXISTS (
      SELECT FROM "Server" s WHERE s."id" = x."serverId" AND s."heartbeatAt" > clock_timestamp() - make_interval(secs => x."heartbeatSeconds"))))`,
  writes: `
host AS (
  UPDATE "Host" t SET "allocation" = x."allocation", "reason" = x."reason", "removedAt" = CASE WHEN x."removes" THEN ${now} END,
    "cpuMillis" = x."cpuMillis", "memoryMiB" = x."memoryMiB",
    "scheduling" = x."scheduling", "schedulingSince" = ${since('scheduling', 'x."scheduling"')},
    "reachability" = x."reachability", "reachabilitySince" = ${since('reachability', 'x."reachability"')}
  FROM input x, counter WHERE t."id" = x."hostId"),
worker AS (
  UPDATE "Worker" t SET "epoch" = t."epoch" + CASE WHEN n."fences" THEN 1 ELSE 0 END, "reason" = n."reason", "held" = n."held",
    "draining" = n."draining", "reachability" = n."reachability", "reachabilitySince" = ${since('reachability', 'n."reachability"')}
  FROM next n JOIN worker_lock l ON l."id" = n."id", counter WHERE t."id" = n."id" AND NOT n."removes"),
gone AS (DELETE FROM "Worker" t USING next n JOIN worker_lock l ON l."id" = n."id", counter WHERE t."id" = n."id" AND n."removes"),
ports AS (
  DELETE FROM "HostPort" t USING input x, counter WHERE t."lostWorkerId" IN (SELECT n."id" FROM next n WHERE n."clean" OR n."removes")
    OR (t."hostId" = x."hostId" AND (x."removes" OR (t."lostWorkerId" IS NOT NULL
      AND NOT EXISTS (SELECT FROM "Worker" w WHERE w."id" = t."lostWorkerId" AND w."reachability" = 'LOST')))))`,
} satisfies ClusterStatement
