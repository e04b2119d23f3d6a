import pg from 'pg'
import { MigrationError, UnreleasedDatabaseError, unreleased } from './migrate.ts'

export class DatabaseUnreachableError extends Error {
  override name = 'DatabaseUnreachableError'
}

/** Codes that a client gives its own errors, connected or not. */
type Whose = Pick<pg.Client, 'database' | 'host' | 'port' | 'user'>

/** The client is not connected yet. A URL that it can't read is reported without its password. */
export function newClient(config: pg.ClientConfig): pg.Client {
  try {
    return new pg.Client(config)
  } catch (error) {
    throw new DatabaseUnreachableError(`DATABASE_URL can't be read (${reasonOf(error)}): correct it.`, { cause: error })
  }
}

/** Names the database for people, never with its password. */
export function databaseName({ database, host, port }: Whose): string {
  const where = host.startsWith('/') ? host : `${host.includes(':') ? `[${host}]` : host}:${port}`
  return `the database "${database}" on ${where}`
}

export function unreachable(client: Whose, error: unknown): DatabaseUnreachableError {
  return new DatabaseUnreachableError(
    `DATABASE_URL names a PostgreSQL server, but ${databaseName(client)} can't be opened (${reasonOf(error)}). Start it or correct the URL; without DATABASE_URL the embedded database is used.`,
    { cause: error },
  )
}

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const insufficientPrivilege = '42501'
const duplicateTable = '42P07'

/** Says why a database could not be brought to this version's schema, and what to do. */
export function notMigrated(client: Whose, error: unknown): MigrationError {
  const which = databaseName(client)
  const reason = reasonOf(error)
  return new MigrationError(sentence(), { cause: error })

  function sentence(): string {
    if (error instanceof UnreleasedDatabaseError)
      return `${capital(which)} ${unreleased(error.migration)}: start with an empty database by DATABASE_URL.`
    switch (codeOf(error)) {
      case insufficientPrivilege:
        return `The role "${client.user}" may not do in ${which} what this version needs (${reason}): let it own the database (ALTER DATABASE "${client.database}" OWNER TO "${client.user}"), or create tables in its schema public; tables that are there already must be its own.`
      case duplicateTable:
        return `${reason}. In ${which} somebody else has made tables: give XCE Services a database of its own, empty at the first start, by DATABASE_URL.`
      default:
        return error instanceof MigrationError
          ? `${reason} It is ${which}.`
          : `${capital(which)} could not be migrated (${reason}): start again.`
    }
  }
}

/** The same for the embedded database, which nobody else can have changed. */
export function embeddedNotMigrated(dataDirectory: string, error: unknown): unknown {
  return error instanceof UnreleasedDatabaseError
    ? new MigrationError(
        `The embedded database in ${dataDirectory} ${unreleased(error.migration)}: start with an empty data directory by XCE_DATA_DIR.`,
        { cause: error },
      )
    : error
}

function codeOf(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined
  return 'code' in error ? error.code : codeOf(error.cause)
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error)
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
