import type { HostId } from '../../model/id.ts'
import { isAliveText } from '../database/aliveReplica.ts'
import type { Database } from '../database/database.ts'

/** A host that is being drained. */
export interface Drain {
  readonly id: HostId
  /** Says that none of its replicas is left. */
  readonly empty: boolean
}

const text = `
SELECT h."id", NOT EXISTS (SELECT FROM "Replica" r WHERE r."hostId" = h."id" AND ${isAliveText('r')}) AS empty
FROM "Host" h WHERE h."scheduling" = 'DRAINING' AND h."removedAt" IS NULL AND ($1::json IS NULL OR h."id" IN (SELECT json_array_elements_text($1::json)))`

/** Returns those of these hosts that are being drained (R15). */
export function readDrains({ prisma }: Database, hosts: readonly HostId[] | 'all'): Promise<Drain[]> {
  return prisma.$queryRawUnsafe<Drain[]>(text, hosts === 'all' ? null : JSON.stringify(hosts))
}
