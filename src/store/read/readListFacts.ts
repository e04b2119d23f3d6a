import type { ServiceStatus } from '../../generated/prisma/enums.ts'
import type { HostId, ReplicaId, Revision, ServiceId } from '../../model/id.ts'
import type { Database } from '../database/database.ts'
import { type FactsSince, readFactPages } from './factPages.ts'

export interface ServiceListFact {
  readonly revision: Revision
  readonly serviceId: ServiceId
  /** Null when the service was created. */
  readonly statusBefore: ServiceStatus | null
  /** Null when the service is gone. */
  readonly statusAfter: ServiceStatus | null
}

/**
 * What became of services after a revision; null when not all of it is kept, or when the revision is not reached yet.
 */
export function readServiceListFacts(database: Database, after: Revision): Promise<FactsSince<ServiceListFact> | null> {
  return readFactPages(
    database,
    after,
    `f."serviceId", CASE WHEN f."data"->'before' = '{}'::jsonb AND f."data"->'after' <> '{}'::jsonb THEN NULL
      ELSE coalesce(f."data"->'before'->>'status', f."data"->>'status') END AS "before",
    CASE WHEN f."data"->'after'->>'deletedAt' IS NULL THEN f."data"->>'status' END AS "after"`,
    `f."kind" = 'change'`,
    [],
    (row, revision) => ({
      revision,
      serviceId: row['serviceId'] as ServiceId,
      statusBefore: row['before'] as ServiceStatus | null,
      statusAfter: row['after'] as ServiceStatus | null,
    }),
  )
}

/** The hosts that changed, or whose replicas came or went, after a revision; null as above. */
export function readHostFacts(
  database: Database,
  after: Revision,
): Promise<FactsSince<{ readonly revision: Revision; readonly hosts: readonly HostId[] }> | null> {
  return readFactPages(
    database,
    after,
    `f."hostId", (f."data"->'hosts')::text AS hosts`,
    `((f."kind" = 'host' AND f."hostId" IS NOT NULL) OR (f."kind" = 'change' AND f."data"->'hosts' <> '[]'::jsonb))`,
    [],
    (row, revision) => ({
      revision,
      hosts: row['hosts'] === null ? [row['hostId'] as HostId] : (JSON.parse(row['hosts'] as string) as HostId[]),
    }),
  )
}

/** The replicas whose assignment to a host may have changed after a revision; null as above. */
export function readAssignmentFacts(
  database: Database,
  hostId: HostId,
  after: Revision,
): Promise<FactsSince<{ readonly revision: Revision; readonly replicas: readonly ReplicaId[] }> | null> {
  return readFactPages(
    database,
    after,
    `(f."data"->'replicas')::text AS replicas`,
    `f."kind" = 'change' AND f."data"->'hosts' @> jsonb_build_array($3::text)`,
    [hostId],
    (row, revision) => ({ revision, replicas: JSON.parse(row['replicas'] as string) as ReplicaId[] }),
  )
}

/**
 * The revisions from which on (exclusive) all facts and all events are kept, and the revision up to which facts go.
 * Events are trimmed by settings of their own, the oldest first, and nobody knows whether a fact below the oldest kept
 * event had one.
 */
export async function readEventReach({
  prisma,
}: Database): Promise<{ readonly floor: Revision; readonly head: Revision }> {
  const [row] = await prisma.$queryRaw<{ floor: Revision; head: Revision }[]>`
    SELECT greatest(f."floor", coalesce((SELECT e."revision" - 1 FROM "Event" e ORDER BY e."revision" LIMIT 1), f."head")) AS floor, f."head"
    FROM "Feed" f WHERE f."id" = 1`
  if (row === undefined) throw new Error('The database has no fact log: its table Feed is empty.')
  return row
}
