import { quarantineSeconds } from '../../../model/bounds.ts'
import {
  type Columns,
  columnsOf,
  replicaColumns,
  rolloutColumns,
  serviceColumns,
  slotColumns,
  timerColumns,
  versionColumns,
} from '../../rows/columns.ts'
import {
  assignments,
  byDefault,
  columnsFrom,
  type InputRow,
  insertInto,
  typedColumns,
  unchanged,
} from '../../rows/sql.ts'

/**
 * THE statement: it writes the changes of many services, each under its guard, and gives their facts the next revisions.
 *
 * Parts of one statement have no order of their own, so order is forced by data: each part asks for a count of the one that must come
 * first. Locks: projects, hosts, workers, services, each by id; then the counter row; then all writes; NOTIFY comes with the commit. Every
 * server takes locks in this order, so none waits in a circle.
 *
 * A batch names the sections that it needs. Each combination is one text, and so one prepared statement.
 */
export const sections = ['settled', 'versions', 'created', 'resources', 'keys'] as const
export type Section = (typeof sections)[number]

const serviceTable = columnsOf('Service')
const factTable = columnsOf('Fact')
const eventTable = columnsOf('Event')
const hostTable = columnsOf('Host')
const workerTable = columnsOf('Worker')
const portTable = columnsOf('HostPort')
const keyTable = columnsOf('IdempotencyKey')

/** The rows that a batch brings, each a JSON array for one parameter of the statement. `ord` is the service's place in the batch. */
export const inputs = {
  services: {
    ord: 'int',
    id: serviceTable.id,
    guard: serviceTable.guard,
    written: 'boolean',
    facts: 'int',
    spec: 'int',
    project: serviceTable.projectId,
    quota: 'int',
    limited: 'boolean',
    limit: columnsOf('Project').maxReplicas,
    ...serviceColumns,
  },
  facts: {
    ord: 'int',
    position: 'int',
    kind: factTable.kind,
    data: factTable.data,
    event: eventTable.kind,
    message: eventTable.message,
    actor: eventTable.actor,
    cause: eventTable.cause,
    replica: eventTable.replicaId,
    host: eventTable.hostId,
    count: eventTable.count,
  },
  replicas: { ord: 'int', fresh: 'boolean', ...replicaColumns },
  rollouts: { ord: 'int', ...rolloutColumns },
  timers: { ord: 'int', ...timerColumns },
  slots: { ord: 'int', ...slotColumns },
  versions: { ord: 'int', kept: 'int', ...versionColumns },
  created: {
    ord: 'int',
    name: serviceTable.name,
    owner: serviceTable.owner,
    createdAt: serviceTable.createdAt,
  },
  hosts: {
    ord: 'int',
    host: hostTable.id,
    allocation: hostTable.allocation,
    cpu: 'int',
    memory: 'int',
    ports: 'int',
    bump: 'boolean',
    lastPort: hostTable.lastPort,
  },
  ports: {
    ord: 'int',
    host: portTable.hostId,
    port: portTable.port,
    protocol: portTable.protocol,
    replica: portTable.replicaId,
    worker: portTable.lostWorkerId,
    watched: portTable.watched,
    act: 'text',
  },
  fences: { ord: 'int', worker: workerTable.id, epoch: workerTable.epoch },
  workerPreconditions: {
    ord: 'int',
    worker: workerTable.id,
    reachability: workerTable.reachability,
    draining: workerTable.draining,
    addresses: hostTable.addresses,
  },
  keys: {
    ord: 'int',
    subject: keyTable.subject,
    operation: keyTable.operation,
    key: keyTable.key,
    hash: keyTable.inputHash,
    result: keyTable.result,
  },
} as const satisfies Record<string, Columns>
export type Input = keyof typeof inputs
export type RowOf<I extends Input> = InputRow<(typeof inputs)[I]>

const inputsOf: Readonly<Record<Section, readonly Input[]>> = {
  settled: ['rollouts', 'timers', 'slots'],
  versions: ['versions'],
  created: ['created'],
  resources: ['hosts', 'ports', 'fences', 'workerPreconditions'],
  keys: ['keys'],
}

export interface Statement {
  readonly text: string
  /** The inputs in the order of the parameters, which follow the batch's id. */
  readonly inputs: readonly Input[]
}

const statements = new Map<string, Statement>()

export function statementFor(needed: ReadonlySet<Section>): Statement {
  const used = sections.filter((section) => needed.has(section))
  const name = used.join(' ')
  const known = statements.get(name)
  if (known) return known
  const taken: Input[] = ['services', 'facts', 'replicas', ...used.flatMap((section) => inputsOf[section])]
  const parts = [
    ...taken.map((input, position) => recordset(input, position + 2)),
    needed.has('resources') ? resourceLocks : plainLocks,
    accepted,
    core,
    ...(needed.has('created') ? [creations] : []),
    ...(needed.has('versions') ? [newVersions] : []),
    ...(needed.has('settled') ? [settled] : []),
    ...(needed.has('resources') ? [resources] : []),
    ...(needed.has('keys') ? [keys] : []),
    answer(needed.has('resources')),
  ]
  const statement = { text: `WITH ${parts.map((part) => part.trim()).join(',\n')}\n${result}`, inputs: taken }
  statements.set(name, statement)
  return statement
}

function recordset(input: Input, parameter: number): string {
  return `${input} AS MATERIALIZED (SELECT * FROM json_to_recordset($${parameter}::json) AS x(${typedColumns(inputs[input])}))`
}

/** Makes a part wait for the counter's update, and with it for every lock. */
const counted = '(SELECT count(*) FROM counter) >= 0'

const serviceLocks = (after: string) => `
locked AS MATERIALIZED (
  SELECT t."id" FROM "Service" t JOIN services w ON t."id" = w.id AND t."guard" = w.guard
  WHERE ${after} ORDER BY t."id" FOR NO KEY UPDATE OF t)`

// The rules judged a growth by a limit that was read with the service. The limit is compared and not locked, so a
// change of the limit beside this commit counts as coming after it.
const isStale = `w.guard >= 0 AND l."id" IS NULL
    OR w.limited AND w."limit" IS DISTINCT FROM (SELECT p."maxReplicas" FROM "Project" p WHERE p."id" = w.project)`

const plainLocks = `
${serviceLocks('true')},
verdicts AS MATERIALIZED (
  SELECT w.ord, CASE WHEN ${isStale} THEN 'stale' ELSE 'done' END AS verdict
  FROM services w LEFT JOIN locked l ON l."id" = w.id)`

// Room need not be checked here, because the host's allocation proves that its replicas and capacity are what the
// grants assumed. A worker that no longer exists was LOST.
const resourceLocks = `
project AS MATERIALIZED (
  SELECT t."id", t."maxReplicas", t."usedReplicas" FROM "Project" t
  WHERE t."id" IN (SELECT w.project FROM services w WHERE w.quota <> 0) ORDER BY t."id" FOR NO KEY UPDATE OF t),
host AS MATERIALIZED (
  SELECT t."id", t."allocation", t."usedCpuMillis", t."usedMemoryMiB", t."usedPorts", t."lastPort", t."scheduling" = 'DRAINING' AS draining, t."addresses" FROM "Host" t
  WHERE t."id" IN (SELECT x.host FROM hosts x UNION SELECT k."hostId" FROM "Worker" k JOIN workerPreconditions x ON x.worker = k."id")
    AND (SELECT count(*) FROM project) >= 0 ORDER BY t."id" FOR NO KEY UPDATE OF t),
worker AS MATERIALIZED (
  SELECT t."id", t."epoch", t."reachability", t."draining", t."hostId" FROM "Worker" t
  WHERE t."id" IN (SELECT x.worker FROM fences x UNION SELECT x.worker FROM workerPreconditions x) AND (SELECT count(*) FROM host) >= 0
  ORDER BY t."id" FOR SHARE OF t),
${serviceLocks('(SELECT count(*) FROM worker) >= 0').trim()},
fenced AS MATERIALIZED (
  SELECT x.ord, x.worker FROM fences x LEFT JOIN worker k ON k."id" = x.worker WHERE k."epoch" IS DISTINCT FROM x.epoch),
unmet AS MATERIALIZED (
  SELECT x.ord, x.host AS precondition FROM hosts x LEFT JOIN host h ON h."id" = x.host
  WHERE x.allocation IS NOT NULL AND h."allocation" IS DISTINCT FROM x.allocation
  UNION SELECT x.ord, x.worker FROM workerPreconditions x LEFT JOIN worker k ON k."id" = x.worker LEFT JOIN host h ON h."id" = k."hostId"
  WHERE coalesce(k."reachability", 'LOST') <> coalesce(x.reachability, k."reachability", 'LOST')
    OR (k."draining" OR h.draining) IS DISTINCT FROM coalesce(x.draining, k."draining" OR h.draining)
    OR (x.addresses IS NOT NULL AND h."addresses" IS DISTINCT FROM x.addresses)),
passing AS MATERIALIZED (
  SELECT w.ord, w.project, w.quota FROM services w LEFT JOIN locked l ON l."id" = w.id
  WHERE (w.guard < 0 OR l."id" IS NOT NULL) AND w.ord NOT IN (SELECT ord FROM fenced) AND w.ord NOT IN (SELECT ord FROM unmet)),
over AS MATERIALIZED (
  SELECT s.ord FROM (
    SELECT ord, project, sum(quota) OVER (PARTITION BY project ORDER BY ord) AS taken FROM passing WHERE quota > 0) s
  JOIN project p ON p."id" = s.project WHERE p."usedReplicas" + s.taken > p."maxReplicas"),
verdicts AS MATERIALIZED (
  SELECT w.ord, CASE
    WHEN ${isStale} THEN 'stale'
    WHEN w.ord IN (SELECT ord FROM fenced) THEN 'fenced'
    WHEN w.ord IN (SELECT ord FROM unmet) THEN 'precondition'
    WHEN w.ord IN (SELECT ord FROM over) THEN 'quota'
    ELSE 'done' END AS verdict
  FROM services w LEFT JOIN locked l ON l."id" = w.id)`

const accepted = `
accepted AS MATERIALIZED (
  SELECT w.ord, w.id, w.written, w.facts, sum(w.facts) OVER (ORDER BY w.ord) - w.facts AS before
  FROM services w JOIN verdicts v ON v.ord = w.ord WHERE v.verdict = 'done'),
counter AS (
  UPDATE "Feed" t SET "head" = t."head" + total.facts FROM (SELECT coalesce(sum(facts), 0)::bigint AS facts FROM accepted) total
  WHERE t."id" = 1 AND total.facts > 0 RETURNING t."head", t."head" - total.facts AS base)`

// The counter's revision before the batch, and the service's place in it.
const revisionBefore = '(SELECT base FROM counter) + a.before'

const core = `
service_rows AS (
  UPDATE "Service" t SET ${assignments<'Service'>({
    ...columnsFrom(serviceColumns, 'w'),
    id: unchanged,
    projectId: unchanged,
    name: unchanged,
    owner: unchanged,
    createdAt: unchanged,
    guard: 't."guard" + 1',
    revision: `CASE WHEN a.facts > 0 THEN ${revisionBefore} + a.facts ELSE t."revision" END`,
    specRevision: `CASE WHEN w.spec > 0 THEN ${revisionBefore} + w.spec ELSE t."specRevision" END`,
    heldName: 'CASE WHEN w."deletedAt" IS NULL THEN t."heldName" END',
  })}
  FROM accepted a JOIN services w ON w.ord = a.ord WHERE t."id" = a.id AND a.written AND w.guard >= 0 AND ${counted}),
replica_inserts AS (
  ${insertInto('Replica', { serviceId: 'a.id', ...columnsFrom(replicaColumns, 'r') })}
  FROM replicas r JOIN accepted a ON a.ord = r.ord WHERE r.fresh AND ${counted}),
replica_updates AS (
  UPDATE "Replica" t SET ${assignments<'Replica'>({
    ...columnsFrom(replicaColumns, 'r'),
    id: unchanged,
    serviceId: unchanged,
    createdAt: unchanged,
  })}
  FROM replicas r JOIN accepted a ON a.ord = r.ord WHERE t."id" = r."id" AND NOT r.fresh AND ${counted}),
fact_rows AS (
  ${insertInto('Fact', {
    revision: `${revisionBefore} + f.position`,
    serviceId: 'a.id',
    hostId: 'NULL',
    kind: 'f.kind',
    data: `coalesce(f.data, 'null'::jsonb)`,
    at: 'statement_timestamp()',
  })}
  FROM facts f JOIN accepted a ON a.ord = f.ord WHERE ${counted}),
event_rows AS (
  ${insertInto('Event', {
    revision: `${revisionBefore} + f.position`,
    kind: 'f.event',
    message: 'f.message',
    actor: 'f.actor',
    cause: 'f.cause',
    projectId: 'w.project',
    serviceId: 'a.id',
    replicaId: 'f.replica',
    hostId: 'f.host',
    count: 'f.count',
    at: 'statement_timestamp()',
  })}
  FROM facts f JOIN accepted a ON a.ord = f.ord JOIN services w ON w.ord = f.ord WHERE f.event IS NOT NULL AND ${counted})`

const creations = `
service_inserts AS (
  ${insertInto('Service', {
    ...columnsFrom(serviceColumns, 'w'),
    id: 'a.id',
    projectId: 'w.project',
    name: 'n.name',
    heldName: 'n.name',
    owner: 'n.owner',
    guard: '0',
    revision: `${revisionBefore} + a.facts`,
    specRevision: `${revisionBefore} + coalesce(w.spec, a.facts)`,
    createdAt: 'n."createdAt"',
  })}
  FROM created n JOIN accepted a ON a.ord = n.ord JOIN services w ON w.ord = n.ord WHERE ${counted})`

// A commit that makes a version lets go the oldest ones that are no longer kept. Those that an ended replica still names go with the retention.
const newVersions = `
version_inserts AS (
  ${insertInto('ServiceVersion', { serviceId: 'a.id', ...columnsFrom(versionColumns, 'v') })}
  FROM versions v JOIN accepted a ON a.ord = v.ord WHERE ${counted}),
aged AS MATERIALIZED (
  SELECT a.id, w."rolloutNumber" - k.kept AS last_rollout, w."versionNumber" - k.kept AS last_version, w."completedVersion", w."previousVersion"
  FROM accepted a JOIN services w ON w.ord = a.ord, (SELECT max(kept) AS kept FROM versions) k
  WHERE a.ord IN (SELECT ord FROM versions) AND w.guard >= 0 AND ${counted}),
rollout_trims AS (
  DELETE FROM "Rollout" o USING aged g WHERE o."serviceId" = g.id AND o."number" <= g.last_rollout AND o."finishedAt" IS NOT NULL),
version_trims AS (
  DELETE FROM "ServiceVersion" t USING aged g WHERE t."serviceId" = g.id AND t."number" <= g.last_version
    AND t."number" IS DISTINCT FROM g."completedVersion" AND t."number" IS DISTINCT FROM g."previousVersion"
    AND NOT EXISTS (SELECT FROM "Replica" r WHERE r."serviceId" = g.id AND r."versionNumber" = t."number")
    AND NOT EXISTS (SELECT FROM "Rollout" o WHERE o."serviceId" = g.id AND t."number" IN (o."fromVersion", o."toVersion")
      AND NOT (o."number" <= g.last_rollout AND o."finishedAt" IS NOT NULL)))`

const settled = `
rollout_rows AS (
  ${insertInto('Rollout', { serviceId: 'a.id', ...columnsFrom(rolloutColumns, 'o') })}
  FROM rollouts o JOIN accepted a ON a.ord = o.ord WHERE ${counted}
  ON CONFLICT ("serviceId", "number") DO UPDATE SET ${assignments<'Rollout'>({
    ...columnsFrom(rolloutColumns, 'excluded'),
    id: unchanged,
    serviceId: unchanged,
    number: unchanged,
    fromVersion: unchanged,
    toVersion: unchanged,
    startedAt: unchanged,
    startedBy: unchanged,
  })}),
timer_rows AS (
  ${insertInto('Timer', { serviceId: 'a.id', ...columnsFrom(timerColumns, 'x') })}
  FROM timers x JOIN accepted a ON a.ord = x.ord WHERE x."dueAt" IS NOT NULL AND ${counted}
  ON CONFLICT ("serviceId", "kind") DO UPDATE SET ${assignments<'Timer'>({
    ...columnsFrom(timerColumns, 'excluded'),
    serviceId: unchanged,
    kind: unchanged,
  })}),
timer_deletes AS (
  DELETE FROM "Timer" t USING timers x JOIN accepted a ON a.ord = x.ord
  WHERE t."serviceId" = a.id AND t."kind" = x.kind AND x."dueAt" IS NULL AND ${counted}),
slot_rows AS (
  ${insertInto('Slot', { serviceId: 'a.id', ...columnsFrom(slotColumns, 'x') })}
  FROM slots x JOIN accepted a ON a.ord = x.ord WHERE x."failures" IS NOT NULL AND ${counted}
  ON CONFLICT ("serviceId", "index", "contentNumber") DO UPDATE SET ${assignments<'Slot'>({
    ...columnsFrom(slotColumns, 'excluded'),
    serviceId: unchanged,
    index: unchanged,
    contentNumber: unchanged,
  })}),
slot_deletes AS (
  DELETE FROM "Slot" t USING slots x JOIN accepted a ON a.ord = x.ord
  WHERE t."serviceId" = a.id AND t."index" = x."index" AND t."contentNumber" = x."contentNumber" AND x."failures" IS NULL AND ${counted})`

// Sums start from the locked rows, because the statement's own view of the table may be older than the locks for which
// it waited.
const resources = `
project_rows AS (
  UPDATE "Project" t SET "usedReplicas" = p."usedReplicas" + d.quota
  FROM (SELECT w.project, sum(w.quota)::int AS quota FROM services w JOIN accepted a ON a.ord = w.ord GROUP BY w.project) d
  JOIN project p ON p."id" = d.project WHERE t."id" = p."id" AND d.quota <> 0 AND ${counted}),
host_rows AS (
  UPDATE "Host" t SET "usedCpuMillis" = h."usedCpuMillis" + d.cpu, "usedMemoryMiB" = h."usedMemoryMiB" + d.memory,
    "usedPorts" = h."usedPorts" + d.ports, "lastPort" = coalesce(d.last_port, h."lastPort"),
    "allocation" = h."allocation" + CASE WHEN d.bump THEN 1 ELSE 0 END
  FROM (SELECT x.host, sum(x.cpu)::int AS cpu, sum(x.memory)::int AS memory, sum(x.ports)::int AS ports, bool_or(x.bump) AS bump,
      (array_agg(x."lastPort" ORDER BY x.ord DESC) FILTER (WHERE x."lastPort" IS NOT NULL))[1] AS last_port
    FROM hosts x JOIN accepted a ON a.ord = x.ord GROUP BY x.host) d
  JOIN host h ON h."id" = d.host WHERE t."id" = h."id" AND ${counted}),
port_releases AS (
  DELETE FROM "HostPort" t USING ports x JOIN accepted a ON a.ord = x.ord
  WHERE t."hostId" = x.host AND t."port" = x.port AND t."protocol" = x.protocol AND t."replicaId" = x.replica AND x.act = 'release'
    AND ${counted} RETURNING 1),
port_quarantines AS (
  UPDATE "HostPort" t SET "replicaId" = NULL, "watched" = x.watched, "conflicts" = t."conflicts" + 1, "quarantinedUntil" = statement_timestamp()
    + make_interval(secs => least(${quarantineSeconds.last}, ${quarantineSeconds.first} * power(2, least(t."conflicts", 20))))
  FROM ports x JOIN accepted a ON a.ord = x.ord
  WHERE t."hostId" = x.host AND t."port" = x.port AND t."protocol" = x.protocol AND t."replicaId" = x.replica AND x.act = 'quarantine'
    AND ${counted} RETURNING 1),
port_keeps AS (
  UPDATE "HostPort" t SET "replicaId" = NULL, "lostWorkerId" = x.worker
  FROM ports x JOIN accepted a ON a.ord = x.ord
  WHERE t."hostId" = x.host AND t."port" = x.port AND t."protocol" = x.protocol AND t."replicaId" = x.replica AND x.act = 'keep'
    AND ${counted} RETURNING 1),
quarantines_over AS (
  DELETE FROM "HostPort" t USING ports x JOIN accepted a ON a.ord = x.ord
  WHERE t."hostId" = x.host AND t."port" = x.port AND t."protocol" = x.protocol AND t."replicaId" IS NULL AND x.act = 'take'
    AND t."quarantinedUntil" <= statement_timestamp() AND ${counted} RETURNING t."hostId", t."port", t."protocol", t."conflicts"),
port_takes AS (
  ${insertInto('HostPort', {
    hostId: 'x.host',
    port: 'x.port',
    protocol: 'x.protocol',
    replicaId: 'x.replica',
    lostWorkerId: byDefault,
    quarantinedUntil: byDefault,
    conflicts: 'coalesce(o."conflicts", 0)',
    watched: byDefault,
  })}
  FROM ports x JOIN accepted a ON a.ord = x.ord
  LEFT JOIN quarantines_over o ON o."hostId" = x.host AND o."port" = x.port AND o."protocol" = x.protocol
  WHERE x.act = 'take' AND (SELECT count(*) FROM port_releases) >= 0 AND (SELECT count(*) FROM port_quarantines) >= 0 AND ${counted}
  ORDER BY x.host, x.port)`

const keys = `
key_rows AS (
  ${insertInto('IdempotencyKey', {
    subject: 'x.subject',
    operation: 'x.operation',
    key: 'x.key',
    inputHash: 'x.hash',
    result: `coalesce(x.result, 'null'::jsonb)`,
    at: 'statement_timestamp()',
  })}
  FROM keys x JOIN accepted a ON a.ord = x.ord WHERE ${counted} ORDER BY x.subject, x.operation, x.key)`

const answer = (hasResources: boolean) => `
answer AS MATERIALIZED (
  SELECT json_build_object(
    'base', (SELECT base::text FROM counter), 'head', (SELECT head::text FROM counter),
    'at', extract(epoch FROM statement_timestamp()) * 1000,
    'refused', (SELECT json_agg(json_build_object('ord', ord, 'verdict', verdict)) FROM verdicts WHERE verdict <> 'done')
    ${hasResources ? `, 'fenced', (SELECT json_agg(f) FROM fenced f), 'preconditions', (SELECT json_agg(m) FROM unmet m)` : ''}) AS result
  WHERE ${counted}),
batch_row AS (
  ${insertInto('Batch', { id: '$1', result: 'result', at: 'statement_timestamp()' })} FROM answer
  WHERE EXISTS (SELECT FROM accepted WHERE written))`

const result = `
SELECT result::text AS result, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS clock,
  (SELECT pg_notify('facts', head::text)::text FROM counter) AS notified
FROM answer`
