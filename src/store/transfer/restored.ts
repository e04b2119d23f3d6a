import { type MigrationConnection, migrate } from '../database/migrate.ts'
import { TransferError } from './format.ts'

/**
 * This much is added to the revision of a database that begins again from a copy. Whatever was committed after the copy
 * was made has lower revisions, so a client's old `after` is too old here and is never mistaken for a moment of the new
 * history.
 */
export const revisionRaise = 1_000_000_000_000n
/** Clients may read revisions as JSON numbers. This leaves room for 9,000 copies of copies. */
const highestRevision = BigInt(Number.MAX_SAFE_INTEGER)

/** The revision from which the copy of a database goes on, when the original was at `head` when it was copied. */
export function raised(head: bigint): bigint {
  if (head + revisionRaise <= highestRevision) return head + revisionRaise
  throw new TransferError(
    `The revisions are at ${head}: raised once more they would be too large for clients that read JSON numbers. Nothing was changed.`,
  )
}

/** Makes clients that resume get a SNAPSHOT, because their `after` is below the floor of the log. */
export async function setHead({ query }: MigrationConnection, head: bigint): Promise<void> {
  await query('UPDATE "Feed" SET "head" = $1, "floor" = $1 WHERE "id" = 1', [head.toString()])
}

/**
 * Has all workers asked for everything when they come back, because what they have reported since the copy was made is
 * not in it. Returns how many workers there are.
 */
export async function askAllWorkers({ query }: MigrationConnection): Promise<number> {
  const { rows } = await query(
    'WITH asked AS (UPDATE "Worker" SET "restored" = true RETURNING 1) SELECT count(*)::int AS count FROM asked',
  )
  return (rows as { count: number }[])[0]?.count ?? 0
}

export interface Restored {
  readonly before: bigint
  readonly head: bigint
  readonly workers: number
  /** The migrations that brought the copy to this version's schema. */
  readonly migrations: readonly string[]
}

/**
 * Prepares a database that was made of a backup by other means, such as pg_restore or a copy of its files, for its first
 * server. A second run raises the revisions once more, which does no harm.
 */
export async function markRestored(connection: MigrationConnection): Promise<Restored> {
  await refuseWrongDatabase(connection)
  const { applied } = await migrate(connection)
  await connection.exec('BEGIN')
  try {
    const { rows } = await connection.query('SELECT "head"::text AS head FROM "Feed" WHERE "id" = 1 FOR UPDATE')
    const before = BigInt((rows as { head: string }[])[0]?.head ?? 0)
    const head = raised(before)
    await setHead(connection, head)
    const workers = await askAllWorkers(connection)
    // The servers of the backup are others: their turns and heartbeats would keep the new ones waiting.
    await connection.exec('DELETE FROM "ServerLease"; DELETE FROM "Server"')
    await connection.exec('COMMIT')
    return { before, head, workers, migrations: applied }
  } catch (error) {
    await connection.exec('ROLLBACK').catch(() => undefined)
    throw error
  }
}

/** A server at work would go on with revisions that it knows, and hand on others. */
async function refuseWrongDatabase({ query }: MigrationConnection): Promise<void> {
  const { rows } = await query(
    `SELECT to_regclass('"Feed"') IS NOT NULL AND to_regclass('"_prisma_migrations"') IS NOT NULL AS known,
            (SELECT count(*)::int FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name IN ('xce-services', 'xce-services listener')) AS served`,
  )
  const [{ known, served } = { known: false, served: 0 }] = rows as { known: boolean; served: number }[]
  if (!known) throw new TransferError('There are no tables of XCE Services in this database: restore the backup first.')
  if (served > 0)
    throw new TransferError(
      'A server uses this database: stop all servers of it first, and make sure that it is the restored one. Nothing was changed.',
    )
}
