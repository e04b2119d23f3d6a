import type { ProjectId } from '../../../model/id.ts'
import type { NewService } from '../../../model/intent.ts'
import type { Database } from '../../database/database.ts'

/** Who has a name: a service in the database, or one that comes earlier in this batch. */
export interface TakenNames {
  get(projectId: ProjectId, name: string): 'database' | 'batch' | null
  add(projectId: ProjectId, name: string): void
}

/** Which of these services' names are held. A read is enough for the answer NAME_TAKEN; a unique key decides races. */
export async function takenNames({ prisma }: Database, services: readonly NewService[]): Promise<TakenNames> {
  const rows = await prisma.$queryRawUnsafe<{ projectId: string; heldName: string }[]>(
    `SELECT s."projectId", s."heldName" FROM "Service" s
     JOIN json_to_recordset($1::json) AS x("projectId" text, "name" text) ON s."projectId" = x."projectId" AND s."heldName" = x."name"`,
    JSON.stringify(services.map(({ projectId, name }) => ({ projectId, name }))),
  )
  const taken = new Map<string, 'database' | 'batch'>(
    rows.map((row) => [`${row.projectId} ${row.heldName}`, 'database']),
  )
  return {
    get: (projectId, name) => taken.get(`${projectId} ${name}`) ?? null,
    add: (projectId, name) => void taken.set(`${projectId} ${name}`, 'batch'),
  }
}
