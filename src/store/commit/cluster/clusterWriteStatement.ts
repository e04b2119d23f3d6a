import type { ClusterFactData, EventText, NewFact } from '../../../model/fact.ts'
import type { HostId } from '../../../model/id.ts'
import { type Columns, columnsOf } from '../../rows/columns.ts'
import { byDefault, type InputRow, insertInto, typedColumns } from '../../rows/sql.ts'
import type { Remember } from '../outcome.ts'
import { profile, profileRemoval, project, projectRemoval, queue, queueRemoval } from './appliedStatements.ts'
import { now } from './clusterStatement.ts'
import { hostChange } from './hostStatement.ts'
import { quarantine } from './quarantineStatement.ts'
import { registration } from './registrationStatement.ts'

/** A write that is not about a service: a row or two under a guard, its facts, and what an idempotencyKey needs. */
export type ClusterWrite = WrittenRow & {
  /** The last one. */
  readonly fact: ClusterFact
  /** Facts about other hosts that it changes too, because the followers of a host look for that host's facts. */
  readonly factsElsewhere?: readonly ClusterFact[]
}

export type ClusterTable = keyof typeof statements
export type ClusterRow<In extends ClusterTable> = InputRow<(typeof statements)[In]['input']>

type WrittenRow = { [In in ClusterTable]: { readonly table: In; readonly row: ClusterRow<In> } }[ClusterTable]

export interface ClusterFact {
  readonly kind: Exclude<NewFact['kind'], 'eventOnly' | 'change'>
  readonly hostId: HostId | null
  readonly data: ClusterFactData
  readonly event: EventText
}

const statements = {
  profile,
  project,
  queue,
  profileRemoval,
  projectRemoval,
  queueRemoval,
  worker: registration,
  host: hostChange,
  quarantine,
}

const { at: _, ...keyColumns } = columnsOf('IdempotencyKey')
const rememberColumns: Columns<Remember> = keyColumns

const factTable = columnsOf('Fact')
const eventTable = columnsOf('Event')
const factColumns = {
  /** The number of facts that come after it. */
  before: 'int',
  kind: factTable.kind,
  hostId: factTable.hostId,
  data: factTable.data,
  event: eventTable.kind,
  message: eventTable.message,
  actor: eventTable.actor,
  cause: eventTable.cause,
  projectId: eventTable.projectId,
}

/**
 * Returns the statement and its parameters. It answers with no row when the guard failed because another server was
 * faster.
 */
export function encodeClusterWrite(
  id: string,
  write: ClusterWrite,
  remember: Remember | null,
  why: string | null = null,
): { text: string; parameters: string[] } {
  const { input, guard, writes } = statements[write.table]
  const text = `
WITH input AS MATERIALIZED (SELECT * FROM json_to_record($2::json) AS x(${typedColumns(input)})),
fact AS MATERIALIZED (SELECT * FROM json_to_recordset($3::json) AS x(${typedColumns(factColumns)})),
${guard.trim()},
counter AS (UPDATE "Feed" t SET "head" = t."head" + (SELECT count(*) FROM fact) WHERE t."id" = 1 AND EXISTS (SELECT FROM guard) RETURNING t."head"),
${writes.trim()},
fact_row AS (
  ${insertInto('Fact', {
    revision: 'c."head" - f."before"',
    serviceId: 'NULL',
    hostId: 'f."hostId"',
    kind: 'f."kind"',
    data: 'f."data"',
    at: now,
  })}
  FROM fact f, counter c),
event_row AS (
  ${insertInto('Event', {
    revision: 'c."head" - f."before"',
    kind: 'f."event"',
    message: 'f."message"',
    actor: 'f."actor"',
    cause: 'f."cause"',
    projectId: 'f."projectId"',
    serviceId: 'NULL',
    replicaId: 'NULL',
    hostId: 'f."hostId"',
    count: byDefault,
    at: now,
  })}
  FROM fact f, counter c),
key_row AS (
  ${insertInto('IdempotencyKey', {
    subject: 'k."subject"',
    operation: 'k."operation"',
    key: 'k."key"',
    inputHash: 'k."inputHash"',
    result: `coalesce(k."result", 'null'::jsonb)`,
    at: now,
  })}
  FROM counter, json_to_recordset($4::json) AS k(${typedColumns(rememberColumns)})),
batch_row AS (
  ${insertInto('Batch', {
    id: '$1',
    result: `jsonb_build_object('base', (c."head" - (SELECT count(*) FROM fact))::text, 'head', c."head"::text)`,
    at: now,
  })}
  FROM counter c)
SELECT c."head"::text AS head, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS clock, pg_notify('facts', c."head"::text)::text AS notified
FROM counter c`
  const facts = [...(write.factsElsewhere ?? []), write.fact].map(
    ({ kind, hostId, data, event: { kind: event, message, actor } }, at, { length }): InputRow<typeof factColumns> => {
      return {
        before: length - 1 - at,
        kind,
        hostId,
        data,
        event,
        message,
        actor,
        cause: why,
        projectId: data.projectId,
      }
    },
  )
  return {
    text,
    parameters: [id, JSON.stringify(write.row), JSON.stringify(facts), JSON.stringify(remember ? [remember] : [])],
  }
}
