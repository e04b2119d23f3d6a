import type { ServiceId } from '../../../model/id.ts'
import type { ServiceSnapshot } from '../../../model/service.ts'
import { isAliveText } from '../../database/aliveReplica.ts'
import type { DatabaseClock } from '../../database/clock.ts'
import type { Database } from '../../database/database.ts'
import { loadSnapshots } from '../../read/snapshot.ts'
import type { IntentEntry } from '../entry.ts'
import { type Decision, remembersOf } from './fold.ts'
import { type Precondition, preconditionsOf } from './preconditions.ts'
import { type Answer, sendBatch } from './sendBatch.ts'

interface LockedWrite {
  readonly database: Database
  readonly clock: DatabaseClock
  readonly batchId: string
  readonly id: ServiceId
  readonly entries: readonly IntentEntry[]
  readonly versionsKept: number | null
  /** Called with the state under the lock. It returns null when there is nothing to write. */
  readonly decideOn: (snapshot: ServiceSnapshot | undefined) => Decision | null
}

// The locks in the order of the statement's own. A service's hosts are those of its replicas and of the grants.
const lockText = `
WITH project AS MATERIALIZED (
  SELECT t."id" FROM "Project" t WHERE t."id" = (SELECT s."projectId" FROM "Service" s WHERE s."id" = $1) FOR NO KEY UPDATE OF t),
host AS MATERIALIZED (
  SELECT t."id" FROM "Host" t WHERE (SELECT count(*) FROM project) >= 0 AND (
    t."id" IN (SELECT json_array_elements_text($2::json))
    OR t."id" IN (SELECT k."hostId" FROM "Worker" k WHERE k."id" IN (SELECT json_array_elements_text($2::json)))
    OR t."id" IN (SELECT r."hostId" FROM "Replica" r WHERE r."serviceId" = $1 AND ${isAliveText('r')}))
  ORDER BY t."id" FOR NO KEY UPDATE OF t),
worker AS MATERIALIZED (
  SELECT t."id" FROM "Worker" t WHERE t."id" IN (SELECT json_array_elements_text($2::json)) AND (SELECT count(*) FROM host) >= 0
  ORDER BY t."id" FOR SHARE OF t)
SELECT t."id" FROM "Service" t WHERE t."id" = $1 AND (SELECT count(*) FROM worker) >= 0 FOR NO KEY UPDATE OF t`

/**
 * The way for a service that other servers change faster than it can be decided on: lock it, load it with a second
 * statement, decide, and write. (Loaded by the locking statement, its other rows would be older than the lock.) The
 * counter is held over one round trip here, so a server that freezes in between is cut off (see openDatabase).
 */
export function writeLocked(write: LockedWrite): Promise<Answer | null> {
  const { database, clock, batchId, id, entries, versionsKept, decideOn } = write
  return database.prisma.$transaction(async (sql) => {
    await sql.$executeRawUnsafe(`SELECT set_config('lock_timeout', '10s', true)`)
    await sql.$queryRawUnsafe(lockText, id, JSON.stringify(hostsAndWorkersOf(entries)))
    const decision = decideOn((await loadSnapshots(sql, [id])).get(id))
    const items = decision && [{ change: decision.change, remember: remembersOf(decision) }]
    return items && sendBatch(sql, clock, batchId, items, versionsKept)
  })
}

/** Ids of hosts and workers, which never collide. */
function hostsAndWorkersOf(entries: readonly IntentEntry[]): Precondition[] {
  return entries.flatMap(({ intent }) =>
    ['reporter' in intent ? [intent.reporter.workerId] : [], preconditionsOf(intent)].flat(),
  )
}
