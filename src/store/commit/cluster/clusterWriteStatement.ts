import type { ClusterFactData, EventText, NewFact } from '../../../model/fact.ts'
import type { HostId } from '../../../model/id.ts'
import type { Remember } from '../outcome.ts'

/** One write that is about no service: a row or two under a guard, its facts, and what an idempotencyKey needs. */
export interface ClusterWrite {
  readonly table: keyof typeof statements
  /** Values of the statement's input. */
  readonly row: object
  /** The last one. */
  readonly fact: ClusterFact
  /** Of other hosts that it changes too: who follows one of those looks for its own facts. */
  readonly factsElsewhere?: readonly ClusterFact[]
}

export interface ClusterFact {
  readonly kind: Exclude<NewFact['kind'], 'eventOnly' | 'change'>
  readonly hostId: HostId | null
  readonly data: ClusterFactData
  readonly event: EventText
}

const now = 'statement_timestamp()'

// In each: `guard` takes the locks (host before worker, as everywhere) and has a row when the decision still holds.
const statements = {
  profile: {
    input:
      '"id" text, "name" text, "isNew" boolean, "revision" int, "revisionId" text, "content" jsonb, "settings" jsonb, "actor" text',
    guard: `
guard AS MATERIALIZED (
  SELECT x."id" FROM input x WHERE x."isNew" UNION ALL
  SELECT "id" FROM (SELECT t."id" FROM "Profile" t JOIN input x ON x."id" = t."id" AND t."currentRevision" = x."revision" - 1 FOR NO KEY UPDATE OF t) l)`,
    writes: `
profile AS (
  INSERT INTO "Profile" ("id", "name", "currentRevision", "createdAt") SELECT x."id", x."name", x."revision", ${now} FROM input x, counter
  ON CONFLICT ("id") DO UPDATE SET "currentRevision" = excluded."currentRevision"),
revision AS (
  INSERT INTO "ProfileRevision" ("id", "profileId", "revision", "content", "settings", "createdAt", "createdBy")
  SELECT x."revisionId", x."id", x."revision", x."content", x."settings", ${now}, x."actor" FROM input x, counter)`,
  },
  project: {
    input: '"id" text, "name" text, "isNew" boolean, "maxReplicas" int',
    guard: `
guard AS MATERIALIZED (
  SELECT x."id" FROM input x WHERE x."isNew" UNION ALL
  SELECT "id" FROM (SELECT t."id" FROM "Project" t JOIN input x ON x."id" = t."id" FOR NO KEY UPDATE OF t) l)`,
    writes: `
project AS (
  INSERT INTO "Project" ("id", "name", "maxReplicas", "createdAt") SELECT x."id", x."name", x."maxReplicas", ${now} FROM input x, counter
  ON CONFLICT ("id") DO UPDATE SET "maxReplicas" = excluded."maxReplicas")`,
  },
  queue: {
    input: '"id" text, "name" text, "isNew" boolean, "priority" int',
    guard: `
guard AS MATERIALIZED (
  SELECT x."id" FROM input x WHERE x."isNew" UNION ALL
  SELECT "id" FROM (SELECT t."id" FROM "Queue" t JOIN input x ON x."id" = t."id" FOR NO KEY UPDATE OF t) l)`,
    writes: `
queue AS (
  INSERT INTO "Queue" ("id", "name", "priority", "createdAt") SELECT x."id", x."name", x."priority", ${now} FROM input x, counter
  ON CONFLICT ("id") DO UPDATE SET "priority" = excluded."priority")`,
  },
  worker: {
    input: `"hostId" text, "hostName" text, "allocation" int, "addresses" text[], "portFrom" int, "portTo" int, "reservedPorts" int[],
  "hostCpuMillis" int, "hostMemoryMiB" int, "workerId" text, "asideId" text, "asideName" text, "name" text, "knownEpoch" int, "epoch" int, "instance" text,
  "registrationNumber" int, "leaseSeconds" int, "cpuMillis" int, "memoryMiB" int, "softwareVersion" text, "protocolVersion" int, "subject" text,
  "scheduling" "HostScheduling", "hostReachability" "Reachability", "hostReason" text, "reachability" "Reachability", "reason" text, "forgotten" text[]`,
    // A new host has allocation 0 to be, a new worker epoch 0 so far. Whose name is taken over must still be LOST, and so must be who comes from another
    // host: that could have given it replicas meanwhile. The former is renamed or forgotten before the newcomer has its name. Each registration raises the
    // epoch: while that is as it was, no later one was taken.
    guard: `
host_lock AS MATERIALIZED (
  SELECT t."id", t."allocation" FROM "Host" t JOIN input x ON x."hostId" = t."id" FOR NO KEY UPDATE OF t),
worker_lock AS MATERIALIZED (
  SELECT t."id", t."hostId", t."epoch", t."reachability" FROM "Worker" t
  JOIN input x ON t."id" IN (x."workerId", x."asideId") OR t."id" = ANY (x."forgotten")
  WHERE (SELECT count(*) FROM host_lock) >= 0 ORDER BY t."id" FOR UPDATE OF t),
guard AS MATERIALIZED (
  SELECT 1 FROM input x LEFT JOIN host_lock h ON true LEFT JOIN worker_lock w ON w."id" = x."workerId"
  WHERE coalesce(h."allocation" + 1, 0) = x."allocation" AND coalesce(w."epoch", 0) = x."knownEpoch"
    AND NOT EXISTS (SELECT FROM worker_lock l WHERE (l."id" <> x."workerId" OR l."hostId" <> x."hostId") AND l."reachability" <> 'LOST'))`,
    writes: `
aside AS (UPDATE "Worker" t SET "name" = x."asideName" FROM input x, counter WHERE t."id" = x."asideId" RETURNING 1),
forgotten AS (DELETE FROM "Worker" t USING input x, counter WHERE t."id" = ANY (x."forgotten") RETURNING 1),
host AS (
  INSERT INTO "Host" AS t ("id", "name", "addresses", "scheduling", "schedulingSince", "reachabilitySince", "cpuMillis", "memoryMiB", "portFrom", "portTo",
    "reservedPorts", "allocation", "createdAt", "reachability", "reason")
  SELECT x."hostId", x."hostName", x."addresses", x."scheduling", ${now}, ${now}, x."hostCpuMillis", x."hostMemoryMiB", x."portFrom", x."portTo",
    x."reservedPorts", x."allocation", ${now}, x."hostReachability", x."hostReason" FROM input x, counter
  ON CONFLICT ("id") DO UPDATE SET "addresses" = excluded."addresses", "cpuMillis" = excluded."cpuMillis", "memoryMiB" = excluded."memoryMiB",
    "portFrom" = excluded."portFrom", "portTo" = excluded."portTo", "reservedPorts" = excluded."reservedPorts",
    "allocation" = excluded."allocation", "removedAt" = NULL, "reason" = excluded."reason",
    "scheduling" = excluded."scheduling",
    "schedulingSince" = CASE WHEN t."scheduling" = excluded."scheduling" THEN t."schedulingSince" ELSE ${now} END,
    "reachability" = excluded."reachability",
    "reachabilitySince" = CASE WHEN t."reachability" = excluded."reachability" THEN t."reachabilitySince" ELSE ${now} END),
worker AS (
  INSERT INTO "Worker" AS t ("id", "hostId", "name", "epoch", "leaseUntil", "reachabilitySince", "cpuMillis", "memoryMiB", "softwareVersion",
    "protocolVersion", "subject", "instance", "registrationNumber", "registeredAt", "lastSeenAt", "reachability", "reason", "draining")
  SELECT x."workerId", x."hostId", x."name", x."epoch", ${now} + make_interval(secs => x."leaseSeconds"), ${now}, x."cpuMillis",
    x."memoryMiB", x."softwareVersion", x."protocolVersion", x."subject", x."instance", x."registrationNumber", ${now}, ${now},
    x."reachability", x."reason", false
  FROM input x, counter WHERE (SELECT count(*) FROM aside) >= 0 AND (SELECT count(*) FROM forgotten) >= 0
  ON CONFLICT ("id") DO UPDATE SET "hostId" = excluded."hostId", "name" = excluded."name", "epoch" = excluded."epoch", "leaseUntil" = excluded."leaseUntil",
    "reachability" = excluded."reachability", "reason" = excluded."reason", "held" = false, "draining" = false, "restored" = false,
    "cpuMillis" = excluded."cpuMillis", "memoryMiB" = excluded."memoryMiB",
    "softwareVersion" = excluded."softwareVersion", "protocolVersion" = excluded."protocolVersion", "subject" = excluded."subject",
    "instance" = excluded."instance", "registrationNumber" = excluded."registrationNumber", "registeredAt" = excluded."registeredAt",
    "lastSeenAt" = excluded."lastSeenAt",
    "reachabilitySince" = CASE WHEN t."reachability" = excluded."reachability" THEN t."reachabilitySince" ELSE ${now} END),
clean AS (DELETE FROM "HostPort" t USING input x, counter WHERE t."lostWorkerId" = x."workerId" AND x."reachability" = 'REACHABLE')`,
  },
  host: {
    input: `"hostId" text, "allocation" int, "scheduling" "HostScheduling", "reachability" "Reachability", "reason" text, "cpuMillis" int, "memoryMiB" int,
  "removes" boolean, "workers" jsonb, "workerId" text, "epoch" int, "serverId" text, "heartbeatSeconds" float8, "leaseUntil" timestamptz(3)`,
    // A word on a silent worker (`serverId`) holds while its lease was not renewed and the server that says it is well; that of a worker in its epoch.
    guard: `
next AS MATERIALIZED (
  SELECT w.* FROM input x, jsonb_to_recordset(x."workers") AS w("id" text, "reachability" "Reachability", "reason" text, "held" boolean, "draining" boolean,
    "fences" boolean, "clean" boolean, "removes" boolean)),
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
    "cpuMillis" = x."cpuMillis", "memoryMiB" = x."memoryMiB", "scheduling" = x."scheduling",
    "schedulingSince" = CASE WHEN t."scheduling" = x."scheduling" THEN t."schedulingSince" ELSE ${now} END,
    "reachability" = x."reachability",
    "reachabilitySince" = CASE WHEN t."reachability" = x."reachability" THEN t."reachabilitySince" ELSE ${now} END
  FROM input x, counter WHERE t."id" = x."hostId"),
worker AS (
  UPDATE "Worker" t SET "epoch" = t."epoch" + CASE WHEN n."fences" THEN 1 ELSE 0 END, "reason" = n."reason", "held" = n."held",
    "draining" = n."draining", "reachability" = n."reachability",
    "reachabilitySince" = CASE WHEN t."reachability" = n."reachability" THEN t."reachabilitySince" ELSE ${now} END
  FROM next n JOIN worker_lock l ON l."id" = n."id", counter WHERE t."id" = n."id" AND NOT n."removes"),
gone AS (DELETE FROM "Worker" t USING next n JOIN worker_lock l ON l."id" = n."id", counter WHERE t."id" = n."id" AND n."removes"),
ports AS (
  DELETE FROM "HostPort" t USING input x, counter WHERE t."lostWorkerId" IN (SELECT n."id" FROM next n WHERE n."clean" OR n."removes")
    OR (t."hostId" = x."hostId" AND (x."removes" OR (t."lostWorkerId" IS NOT NULL
      AND NOT EXISTS (SELECT FROM "Worker" w WHERE w."id" = t."lostWorkerId" AND w."reachability" = 'LOST')))))`,
  },
} as const

/** The statement and its parameters. It answers with no row when the guard failed: another server was faster. */
export function encodeClusterWrite(
  id: string,
  write: ClusterWrite,
  remember: Remember | null,
): { text: string; parameters: string[] } {
  const { input, guard, writes } = statements[write.table]
  const text = `
WITH input AS MATERIALIZED (SELECT * FROM json_to_record($2::json) AS x(${input})),
fact AS MATERIALIZED (SELECT * FROM json_to_recordset($3::json) AS x("before" int, "kind" text, "hostId" text, "data" jsonb, "event" "EventKind",
  "message" text, "actor" text, "projectId" text)),
${guard.trim()},
counter AS (UPDATE "Feed" t SET "head" = t."head" + (SELECT count(*) FROM fact) WHERE t."id" = 1 AND EXISTS (SELECT FROM guard) RETURNING t."head"),
${writes.trim()},
fact_row AS (
  INSERT INTO "Fact" ("revision", "hostId", "kind", "data", "at") SELECT c."head" - f."before", f."hostId", f."kind", f."data", ${now} FROM fact f, counter c),
event_row AS (
  INSERT INTO "Event" ("revision", "kind", "message", "actor", "projectId", "hostId", "at")
  SELECT c."head" - f."before", f."event", f."message", f."actor", f."projectId", f."hostId", ${now} FROM fact f, counter c),
key_row AS (
  INSERT INTO "IdempotencyKey" ("subject", "operation", "key", "inputHash", "result", "at")
  SELECT k."subject", k."operation", k."key", k."inputHash", coalesce(k."result", 'null'::jsonb), ${now} FROM counter,
    json_to_recordset($4::json) AS k("subject" text, "operation" text, "key" text, "inputHash" text, "result" jsonb)),
batch_row AS (
  INSERT INTO "Batch" ("id", "result", "at") SELECT $1, jsonb_build_object('base', (c."head" - (SELECT count(*) FROM fact))::text, 'head', c."head"::text), ${now} FROM counter c)
SELECT c."head"::text AS head, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS clock, pg_notify('facts', c."head"::text)::text AS notified
FROM counter c`
  const facts = [...(write.factsElsewhere ?? []), write.fact].map(
    ({ kind, hostId, data, event: { kind: event, message, actor } }, at, { length }) => {
      return { before: length - 1 - at, kind, hostId, data, event, message, actor, projectId: data.projectId }
    },
  )
  return {
    text,
    parameters: [id, JSON.stringify(write.row), JSON.stringify(facts), JSON.stringify(remember ? [remember] : [])],
  }
}
