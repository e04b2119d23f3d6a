import type { PlacementProject } from '../../model/host.ts'
import type { ServiceId } from '../../model/id.ts'
import type { ServiceSnapshot } from '../../model/service.ts'
import type { Database } from '../database/database.ts'
import { type PlacementState, readPlacement } from './readPlacement.ts'
import { loadSnapshots } from './snapshot.ts'

/** A service, and the cluster around it as placement sees it. */
export interface PreviewState {
  readonly snapshot: ServiceSnapshot
  readonly queuePriority: number
  readonly project: PlacementProject
  readonly placement: PlacementState
}

/** Reads all of it from one state of the database, and locks nothing. Null when the service does not exist. */
export function readForPreview({ prisma }: Database, serviceId: ServiceId): Promise<PreviewState | null> {
  return prisma.$transaction(
    async (sql) => {
      const snapshot = (await loadSnapshots(sql, [serviceId])).get(serviceId)
      if (snapshot === undefined) return null
      const placement = await readPlacement({ prisma: sql })
      const project = await sql.project.findUniqueOrThrow({ where: { id: snapshot.projectId } })
      const queue = await sql.queue.findUniqueOrThrow({ where: { id: snapshot.columns.queueId } })
      const { name, maxReplicas, usedReplicas } = project
      return {
        snapshot,
        queuePriority: queue.priority,
        project: { id: snapshot.projectId, name, maxReplicas, usedReplicas },
        placement,
      }
    },
    { isolationLevel: 'RepeatableRead', maxWait: 15_000, timeout: 30_000 },
  )
}
