import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Logger } from 'pino'
import { openEmbedded } from '../database/embedded.ts'
import type { MigrationConnection } from '../database/migrate.ts'
import { databaseName, newClient, unreachable } from '../database/openErrors.ts'
import { TransferError } from './format.ts'

/** One session with a database, without a server around it. */
export interface TransferConnection extends MigrationConnection {
  /** The name of the database, for people. */
  readonly what: string
  close(): Promise<void>
}

export interface TransferTarget {
  readonly dataDirectory: string
  /** The URL of a PostgreSQL database; null for the embedded one. */
  readonly url: string | null
}

/**
 * Connects to an existing database. The embedded one must be free: DirectoryInUseError names a server that runs on it.
 * A PostgreSQL database may have servers at work.
 */
export async function connectToDump(target: TransferTarget, log: Logger): Promise<TransferConnection> {
  const { url, dataDirectory } = target
  if (url === null && !existsSync(path.join(dataDirectory, 'database', 'xce-database'))) {
    throw new TransferError(
      `There is no embedded database in ${dataDirectory}: set XCE_DATA_DIR, or DATABASE_URL for PostgreSQL.`,
    )
  }
  return connectToLoad(target, log)
}

/** Connects to a database that may be new. A missing embedded one is made. */
export async function connectToLoad({ dataDirectory, url }: TransferTarget, log: Logger): Promise<TransferConnection> {
  if (url === null) {
    const { pglite, close } = await openEmbedded(dataDirectory, log)
    return {
      what: `the embedded database in ${dataDirectory}`,
      exec: (script) => pglite.exec(script),
      query: (sql, params) => pglite.query(sql, params),
      close,
    }
  }
  const client = newClient({ connectionString: url, application_name: 'xce-services transfer' })
  await client.connect().catch((error: unknown) => {
    throw unreachable(client, error)
  })
  return {
    what: databaseName(client),
    exec: (script) => client.query(script),
    query: (sql, params) => client.query(sql, params),
    close: () => client.end(),
  }
}
