import type { AllocatedPort, Content } from '../../model/content.ts'
import type { ReplicaId, Revision, WorkerId } from '../../model/id.ts'
import { isAliveText } from '../database/aliveReplica.ts'
import type { Database } from '../database/database.ts'
import { selectList } from '../rows/sql.ts'

/** What a worker should do with one replica. */
export interface Assignment {
  readonly replicaId: ReplicaId
  readonly goal: 'RUN' | 'STOP'
  /** Names for the replica's environment (R13). */
  readonly service: string
  readonly project: string
  readonly index: number
  readonly versionNumber: number
  readonly content: Content
  readonly ports: readonly AllocatedPort[]
}

interface Row {
  readonly head: string
  /** Null when there is no replica, and the row only brings the head. */
  readonly replicaId: ReplicaId | null
  readonly goal: Assignment['goal']
  readonly service: string
  readonly project: string
  readonly index: number
  readonly versionNumber: number
  readonly content: string
  readonly ports: string
}

/**
 * Reads the alive replicas on a worker, or the named ones of them, and the head at which this is true, with one
 * statement and in the order of their ids. A LOST worker has none: what it still runs is being replaced, and it takes
 * nothing before it is clean (R15).
 */
export async function readAssignments(
  { prisma }: Database,
  workerId: WorkerId,
  replicaIds: readonly ReplicaId[] | 'all',
): Promise<{ revision: Revision; assignments: Assignment[] }> {
  const rows = await prisma.$queryRawUnsafe<Row[]>(
    `SELECT e."head"::text AS head, a.* FROM "Feed" e LEFT JOIN LATERAL (
       SELECT ${selectList<Omit<Row, 'head'>>({
         replicaId: 'r."id"',
         goal: `CASE WHEN r."state" = 'STOPPING' THEN 'STOP' ELSE 'RUN' END`,
         service: 's."name"',
         project: 'p."name"',
         index: 'r."index"',
         versionNumber: 'r."versionNumber"',
         content: 'v."content"::text',
         ports: 'r."ports"::text',
       })}
       FROM "Replica" r JOIN "Service" s ON s."id" = r."serviceId" JOIN "Project" p ON p."id" = s."projectId"
         JOIN "ServiceVersion" v ON v."serviceId" = r."serviceId" AND v."number" = r."versionNumber"
       WHERE r."workerId" = $1 AND r."hostId" IS NOT NULL AND ${isAliveText('r')}
         AND EXISTS (SELECT FROM "Worker" w WHERE w."id" = r."workerId" AND w."hostId" = r."hostId" AND w."reachability" <> 'LOST')
         AND ($2::json IS NULL OR r."id" IN (SELECT json_array_elements_text($2::json)))) a ON true
     WHERE e."id" = 1 ORDER BY a."replicaId"`,
    workerId,
    replicaIds === 'all' ? null : JSON.stringify(replicaIds),
  )
  const assignments = rows.flatMap(({ head: _, replicaId, content, ports, ...row }): Assignment[] =>
    replicaId === null
      ? []
      : [{ replicaId, ...row, content: JSON.parse(content) as Content, ports: JSON.parse(ports) as AllocatedPort[] }],
  )
  return { revision: BigInt(rows[0]?.head ?? 0), assignments }
}
