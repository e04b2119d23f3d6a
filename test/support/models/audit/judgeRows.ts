import type { Sql } from '../../../../src/store/read/snapshot.ts'

/** What no state of the tables may show: each query finds what breaks an invariant and says so. */
const findings = {
  'two alive replicas hold one port': `SELECT r."hostId" || ' ' || p.port AS what FROM "Replica" r, json_to_recordset(r."ports"::json) AS p("port" int, "protocol" text)
    WHERE r."state" <> 'ENDED' GROUP BY r."hostId", p.port, p.protocol HAVING count(*) > 1`,
  'a replica’s port is not held for it': `SELECT r."id" || ' ' || p.port AS what FROM "Replica" r, json_to_recordset(r."ports"::json) AS p("port" int, "protocol" text)
    WHERE r."state" <> 'ENDED' AND NOT EXISTS (SELECT FROM "HostPort" h WHERE h."hostId" = r."hostId" AND h."port" = p.port AND h."protocol"::text = p.protocol AND h."replicaId" = r."id")`,
  'a port is held for a replica that has ended': `SELECT h."replicaId" || ' ' || h."port" AS what FROM "HostPort" h JOIN "Replica" r ON r."id" = h."replicaId" JOIN "Host" t ON t."id" = h."hostId"
    WHERE r."state" = 'ENDED' AND t."reachability" <> 'LOST'`,
  'two active replicas have one index': `SELECT r."serviceId" || ' ' || r."index" AS what FROM "Replica" r WHERE r."state" NOT IN ('STOPPING', 'ENDED')
    GROUP BY r."serviceId", r."index" HAVING count(*) > 1`,
  'an alive replica has neither a host nor a blocker': `SELECT r."id" AS what FROM "Replica" r WHERE r."state" <> 'ENDED' AND (r."hostId" IS NULL) <> (r."blocker" IS NOT NULL)`,
  'a ready replica is not confirmed, or can’t be reached': `SELECT r."id" AS what FROM "Replica" r WHERE r."ready" AND NOT (r."state" = 'RUNNING' AND r."reportedReady" AND r."hostReachable")`,
  'quota used is not what is held': `SELECT p."name" AS what FROM "Project" p WHERE p."usedReplicas" <>
    (SELECT count(*) FROM "Replica" r JOIN "Service" s ON s."id" = r."serviceId" WHERE s."projectId" = p."id" AND r."holdsQuota")`,
  'a host’s use is not the sum of its replicas': `SELECT h."name" || ' ' || h."usedCpuMillis" || ' ' || sum(coalesce(r."cpuMillis", 0)) AS what
    FROM "Host" h LEFT JOIN "Replica" r ON r."hostId" = h."id" AND r."state" <> 'ENDED' WHERE h."reachability" <> 'LOST'
    GROUP BY h."id" HAVING h."usedCpuMillis" <> sum(coalesce(r."cpuMillis", 0)) OR h."usedMemoryMiB" <> sum(coalesce(r."memoryMiB", 0))`,
  'a placed replica is on no worker of its host': `SELECT r."id" AS what FROM "Replica" r WHERE r."state" <> 'ENDED' AND r."hostId" IS NOT NULL
    AND NOT EXISTS (SELECT FROM "Worker" w WHERE w."id" = r."workerId" AND w."hostId" = r."hostId")`,
  'a worker has more than its room': `SELECT w."name" || ' ' || sum(r."cpuMillis") AS what FROM "Worker" w JOIN "Replica" r ON r."workerId" = w."id"
    WHERE r."state" <> 'ENDED' AND r."hostId" IS NOT NULL GROUP BY w."id" HAVING sum(r."cpuMillis") > w."cpuMillis" OR sum(r."memoryMiB") > w."memoryMiB"`,
  'a host is not what its workers are': `SELECT h."name" || ' ' || h."reachability" || ' ' || h."cpuMillis" AS what FROM "Host" h LEFT JOIN "Worker" w ON w."hostId" = h."id"
    WHERE h."removedAt" IS NULL GROUP BY h."id" HAVING h."cpuMillis" <> coalesce(sum(w."cpuMillis") FILTER (WHERE w."reachability" <> 'LOST'), 0)
      OR h."reachability" <> CASE WHEN bool_or(w."reachability" = 'REACHABLE') THEN 'REACHABLE' WHEN bool_or(w."reachability" = 'UNREACHABLE') THEN 'UNREACHABLE' ELSE 'LOST' END::"Reachability"`,
  'a host’s used ports are not those of its replicas': `SELECT h."name" || ' ' || h."usedPorts" AS what FROM "Host" h LEFT JOIN "HostPort" p ON p."hostId" = h."id" AND p."replicaId" IS NOT NULL
    GROUP BY h."id" HAVING h."usedPorts" <> count(p)`,
  'a port is kept for a worker that is not lost': `SELECT p."port"::text AS what FROM "HostPort" p JOIN "Worker" w ON w."id" = p."lostWorkerId" AND w."hostId" = p."hostId" WHERE w."reachability" <> 'LOST'`,
  'a service’s counts are not those of its rows': `SELECT s."name" AS what FROM "Service" s LEFT JOIN "Replica" r ON r."serviceId" = s."id" AND r."state" <> 'ENDED' GROUP BY s."id"
    HAVING (s."activeReplicas", s."readyReplicas", s."availableReplicas", s."stoppingReplicas") <> (count(r) FILTER (WHERE r."state" <> 'STOPPING'),
      count(r) FILTER (WHERE r."ready"), count(r) FILTER (WHERE r."available"), count(r) FILTER (WHERE r."state" = 'STOPPING'))`,
  'with nothing outdated the active ones are not the desired ones': `SELECT s."name" || ' ' || s."activeReplicas" AS what FROM "Service" s
    JOIN "ServiceVersion" v ON v."serviceId" = s."id" AND v."number" = s."versionNumber"
    WHERE s."deletionRequestedAt" IS NULL AND NOT s."paused" AND s."activeReplicas" <> s."desiredReplicas"
      AND NOT EXISTS (SELECT FROM "Timer" t WHERE t."serviceId" = s."id" AND t."kind" = 'CONTINUE')
      AND NOT EXISTS (SELECT FROM "Replica" r WHERE r."serviceId" = s."id" AND r."state" NOT IN ('STOPPING', 'ENDED') AND (r."contentNumber" <> v."contentNumber" OR r."leaving" IS NOT NULL))`,
} as const

/** The invariants of the tables (src/rules/README.md, "Invariants"), as sentences where they are broken. */
export async function judgeRows(sql: Sql): Promise<string[]> {
  const faults: string[] = []
  for (const [invariant, query] of Object.entries(findings)) {
    for (const { what } of await sql.$queryRawUnsafe<{ what: string }[]>(query)) faults.push(`${invariant}: ${what}`)
  }
  return faults
}
