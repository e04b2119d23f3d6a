import type { ProjectId } from '../../../model/id.ts'
import type { NewService } from '../../../model/intent.ts'
import type { Database } from '../../database/database.ts'

/** The holder of a name: a service in the database, or one that comes earlier in this batch. */
export interface TakenNames {
  get(projectId: ProjectId, name: string): 'database' | 'batch' | null
  add(projectId: ProjectId, name: string): void
}

interface Row {
  readonly projectId: ProjectId
  readonly maxReplicas: number | null
  readonly name: string
  readonly isHeld: boolean
}

/**
 * Reads what new services are judged by: which of their names are held, and the limits of their projects. Nothing is
 * locked, because a unique key decides races for a name, and the commit compares the limit.
 */
export async function readForCreations(
  { prisma }: Database,
  services: readonly NewService[],
): Promise<{ readonly names: TakenNames; readonly limits: ReadonlyMap<ProjectId, number | null> }> {
  const rows = await prisma.$queryRawUnsafe<Row[]>(
    `SELECT x."projectId", x."name", p."maxReplicas", s."id" IS NOT NULL AS "isHeld"
     FROM json_to_recordset($1::json) AS x("projectId" text, "name" text) JOIN "Project" p ON p."id" = x."projectId"
     LEFT JOIN "Service" s ON s."projectId" = x."projectId" AND s."heldName" = x."name"`,
    JSON.stringify(services.map(({ projectId, name }) => ({ projectId, name }))),
  )
  const taken = new Map<string, 'database' | 'batch'>(
    rows.filter(({ isHeld }) => isHeld).map(({ projectId, name }) => [`${projectId} ${name}`, 'database']),
  )
  return {
    names: {
      get: (projectId, name) => taken.get(`${projectId} ${name}`) ?? null,
      add: (projectId, name) => void taken.set(`${projectId} ${name}`, 'batch'),
    },
    limits: new Map(rows.map(({ projectId, maxReplicas }) => [projectId, maxReplicas])),
  }
}
