import { batchHours, idempotencyKeyHours, type Retention } from '../../model/retention.ts'
import type { Database } from '../database/database.ts'

/** Deletes at most `most` rows of one kind of history, the oldest first, and returns how many. This makes no fact. */
export interface Deletion {
  readonly what: 'facts' | 'events' | 'replicas' | 'services' | 'rollouts' | 'versions' | 'keys' | 'batches'
  readonly run: (database: Database, retention: Retention, most: number) => Promise<number>
}

// Rows that another server deletes at this moment are skipped, so that two servers share the work and neither waits.
// The rows are chosen in an array or a materialized part, which is made once. A plain sub-select could run again for
// every row, and then it would bound nothing.
const skip = 'FOR UPDATE SKIP LOCKED'
const ago = (hours: string) => `clock_timestamp() - make_interval(hours => ${hours}::int)`

const texts = {
  // The floor was moved before, so nobody reads these facts.
  facts: `DELETE FROM "Fact" WHERE "revision" = ANY (ARRAY(
    SELECT "revision" FROM "Fact" WHERE "revision" <= (SELECT "floor" FROM "Feed" WHERE "id" = 1) ORDER BY "revision" LIMIT $1::int ${skip}))`,
  // Revisions grow with time, so the oldest come first without an index on time. There are at most as many events as
  // revisions, which is checked first.
  events: `DELETE FROM "Event" WHERE "revision" = ANY (ARRAY(
    SELECT o."revision" FROM (SELECT "revision", "at" FROM "Event" ORDER BY "revision" LIMIT $1::int ${skip}) o
    WHERE o."at" < ${ago('$2')} OR (o."revision" <= (SELECT "head" FROM "Feed" WHERE "id" = 1) - $3::int
      AND o."revision" <= (SELECT "revision" FROM "Event" ORDER BY "revision" DESC OFFSET $3::int LIMIT 1))))`,
  // Ports may be held beyond the end of their replica, until the host is known to be clean (R13), and the replica's row
  // says whose they are. Many replicas end in one commit at one instant, so the id distinguishes them.
  replicas: `WITH bound AS MATERIALIZED (
    SELECT "endedAt", "id" FROM "Replica" WHERE "endedAt" IS NOT NULL ORDER BY "endedAt" DESC, "id" DESC OFFSET $3::int LIMIT 1)
  DELETE FROM "Replica" WHERE "id" = ANY (ARRAY(
    SELECT r."id" FROM "Replica" r WHERE r."endedAt" <= greatest(${ago('$2')}, (SELECT "endedAt" FROM bound))
      AND (r."endedAt" < ${ago('$2')} OR (r."endedAt", r."id") <= (SELECT "endedAt", "id" FROM bound))
      AND NOT EXISTS (SELECT FROM "HostPort" p WHERE p."replicaId" = r."id")
    ORDER BY r."endedAt" LIMIT $1::int ${skip}))`,
  // A deleted service never changes again. All its rows go at once, so nobody sees half of it.
  services: `WITH gone AS MATERIALIZED (
    SELECT s."id" FROM "Service" s
    WHERE s."deletedAt" < ${ago('$2')} AND NOT EXISTS (SELECT FROM "Replica" r WHERE r."serviceId" = s."id")
    ORDER BY s."deletedAt" LIMIT greatest(1, $1::int / 100) ${skip}),
  timers AS (DELETE FROM "Timer" t USING gone WHERE t."serviceId" = gone."id"),
  slots AS (DELETE FROM "Slot" t USING gone WHERE t."serviceId" = gone."id"),
  rollouts AS (DELETE FROM "Rollout" t USING gone WHERE t."serviceId" = gone."id"),
  versions AS (DELETE FROM "ServiceVersion" t USING gone WHERE t."serviceId" = gone."id")
  DELETE FROM "Service" t USING gone WHERE t."id" = gone."id"`,
  rollouts: `DELETE FROM "Rollout" WHERE "id" = ANY (ARRAY(
    SELECT o."id" FROM "Service" s JOIN "Rollout" o ON o."serviceId" = s."id"
    WHERE s."rolloutNumber" > $2::int AND o."number" <= s."rolloutNumber" - $2::int AND o."finishedAt" IS NOT NULL
    LIMIT $1::int FOR UPDATE OF o SKIP LOCKED))`,
  // A rollback may still lead to the completed versions that the service names (R6).
  versions: `DELETE FROM "ServiceVersion" WHERE "id" = ANY (ARRAY(
    SELECT v."id" FROM "Service" s JOIN "ServiceVersion" v ON v."serviceId" = s."id"
    WHERE s."versionNumber" > $2::int AND v."number" <= s."versionNumber" - $2::int
      AND v."number" IS DISTINCT FROM s."completedVersion" AND v."number" IS DISTINCT FROM s."previousVersion"
      AND v."number" IS DISTINCT FROM s."provenVersion"
      AND NOT EXISTS (SELECT FROM "Replica" r WHERE r."serviceId" = s."id" AND r."versionNumber" = v."number")
      AND NOT EXISTS (SELECT FROM "Rollout" o WHERE o."serviceId" = s."id" AND v."number" IN (o."fromVersion", o."toVersion"))
    LIMIT $1::int FOR UPDATE OF v SKIP LOCKED))`,
  keys: `WITH old AS MATERIALIZED (
    SELECT "subject", "operation", "key" FROM "IdempotencyKey" WHERE "at" < ${ago('$2')} ORDER BY "at" LIMIT $1::int ${skip})
  DELETE FROM "IdempotencyKey" t USING old WHERE t."subject" = old."subject" AND t."operation" = old."operation" AND t."key" = old."key"`,
  batches: `DELETE FROM "Batch" WHERE "id" = ANY (ARRAY(
    SELECT "id" FROM "Batch" WHERE "at" < ${ago('$2')} ORDER BY "at" LIMIT $1::int ${skip}))`,
} as const satisfies Record<Deletion['what'], string>

const deletion = (what: Deletion['what'], bounds: (retention: Retention) => readonly number[]): Deletion => ({
  what,
  run: ({ prisma }, retention, most) => prisma.$executeRawUnsafe(texts[what], most, ...bounds(retention)),
})

/** The order is such that rows that name others go first. */
export const deletions: readonly Deletion[] = [
  deletion('facts', () => []),
  deletion('events', ({ events }) => [events.keptHours, events.mostKept]),
  deletion('replicas', ({ endedReplicas }) => [endedReplicas.keptHours, endedReplicas.mostKept]),
  deletion('services', ({ endedReplicas }) => [endedReplicas.keptHours]),
  deletion('rollouts', ({ versionsKept }) => [versionsKept]),
  deletion('versions', ({ versionsKept }) => [versionsKept]),
  deletion('keys', () => [idempotencyKeyHours]),
  deletion('batches', () => [batchHours]),
]
