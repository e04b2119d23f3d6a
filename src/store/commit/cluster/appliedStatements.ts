import { columnsOf } from '../../rows/columns.ts'
import { assignments, byDefault, insertInto, unchanged } from '../../rows/sql.ts'
import { type ClusterStatement, now } from './clusterStatement.ts'

const profileColumns = columnsOf('Profile')
const revisionColumns = columnsOf('ProfileRevision')

export const profile = {
  input: {
    id: profileColumns.id,
    name: profileColumns.name,
    isNew: 'boolean',
    /** Whether it gets a revision; otherwise only what is noted about it changes. */
    isRevised: 'boolean',
    labels: profileColumns.labels,
    annotations: profileColumns.annotations,
    description: profileColumns.description,
    /** What was noted about it when this was decided. */
    labelsBefore: profileColumns.labels,
    annotationsBefore: profileColumns.annotations,
    descriptionBefore: profileColumns.description,
    revision: revisionColumns.revision,
    revisionId: revisionColumns.id,
    content: revisionColumns.content,
    settings: revisionColumns.settings,
    actor: revisionColumns.createdBy,
  },
  guard: `
guard AS MATERIALIZED (
  SELECT x."id" FROM input x WHERE x."isNew" UNION ALL
  SELECT "id" FROM (SELECT t."id" FROM "Profile" t JOIN input x ON x."id" = t."id" AND t."currentRevision" = x."revision" - x."isRevised"::int
    AND t."labels" = x."labelsBefore" AND t."annotations" = x."annotationsBefore" AND t."description" IS NOT DISTINCT FROM x."descriptionBefore" FOR NO KEY UPDATE OF t) l)`,
  writes: `
profile AS (
  ${insertInto('Profile', {
    id: 'x."id"',
    name: 'x."name"',
    currentRevision: 'x."revision"',
    labels: 'x."labels"',
    annotations: 'x."annotations"',
    description: 'x."description"',
    createdAt: now,
    removedAt: 'NULL',
  })}
  FROM input x, counter
  ON CONFLICT ("id") DO UPDATE SET "currentRevision" = excluded."currentRevision", "labels" = excluded."labels",
    "annotations" = excluded."annotations", "description" = excluded."description", "removedAt" = NULL),
revision AS (
  ${insertInto('ProfileRevision', {
    id: 'x."revisionId"',
    profileId: 'x."id"',
    revision: 'x."revision"',
    content: 'x."content"',
    settings: 'x."settings"',
    createdAt: now,
    createdBy: 'x."actor"',
  })}
  FROM input x, counter WHERE x."isRevised")`,
} satisfies ClusterStatement

const projectColumns = columnsOf('Project')

export const project = {
  input: {
    id: projectColumns.id,
    name: projectColumns.name,
    isNew: 'boolean',
    maxReplicas: projectColumns.maxReplicas,
  },
  guard: guardOf('Project'),
  writes: `
project AS (
  ${insertInto('Project', { id: 'x."id"', name: 'x."name"', maxReplicas: 'x."maxReplicas"', usedReplicas: byDefault, createdAt: now, removedAt: 'NULL' })}
  FROM input x, counter
  ON CONFLICT ("id") DO UPDATE SET ${assignments<'Project'>({
    id: unchanged,
    name: unchanged,
    maxReplicas: 'excluded."maxReplicas"',
    usedReplicas: unchanged,
    createdAt: unchanged,
    removedAt: 'NULL',
  })})`,
} satisfies ClusterStatement

const queueColumns = columnsOf('Queue')

export const queue = {
  input: { id: queueColumns.id, name: queueColumns.name, isNew: 'boolean', priority: queueColumns.priority },
  guard: guardOf('Queue'),
  writes: `
queue AS (
  ${insertInto('Queue', { id: 'x."id"', name: 'x."name"', priority: 'x."priority"', createdAt: now, removedAt: 'NULL' })} FROM input x, counter
  ON CONFLICT ("id") DO UPDATE SET ${assignments<'Queue'>({
    id: unchanged,
    name: unchanged,
    priority: 'excluded."priority"',
    createdAt: unchanged,
    removedAt: 'NULL',
  })})`,
} satisfies ClusterStatement

function guardOf(table: 'Project' | 'Queue'): string {
  return `
guard AS MATERIALIZED (
  SELECT x."id" FROM input x WHERE x."isNew" UNION ALL
  SELECT "id" FROM (SELECT t."id" FROM "${table}" t JOIN input x ON x."id" = t."id" FOR NO KEY UPDATE OF t) l)`
}

const usedBy = {
  Project: 's."projectId" = t."id"',
  Queue: 's."queueId" = t."id"',
  Profile: 's."profileRevisionId" IN (SELECT r."id" FROM "ProfileRevision" r WHERE r."profileId" = t."id")',
} as const

/** Marks a row as deleted that no service uses. Its row stays for the history that names it. */
function removalOf(table: keyof typeof usedBy) {
  return {
    input: { id: columnsOf(table).id },
    guard: `
guard AS MATERIALIZED (
  SELECT t."id" FROM "${table}" t JOIN input x ON x."id" = t."id"
  WHERE t."removedAt" IS NULL AND NOT EXISTS (SELECT FROM "Service" s WHERE s."heldName" IS NOT NULL AND ${usedBy[table]}) FOR UPDATE OF t)`,
    writes: `
removal AS (UPDATE "${table}" t SET "removedAt" = ${now} FROM input x, counter WHERE t."id" = x."id")`,
  } satisfies ClusterStatement
}

export const projectRemoval = removalOf('Project')
export const queueRemoval = removalOf('Queue')
export const profileRemoval = removalOf('Profile')
