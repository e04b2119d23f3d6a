import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** One connection, and never a pool, because the lock and the transactions belong to its session. */
export interface MigrationConnection {
  /** Runs a script of several statements. */
  exec(script: string): Promise<unknown>
  query(sql: string, params?: unknown[]): Promise<{ rows: unknown[] }>
}

export class MigrationError extends Error {
  override name = 'MigrationError'
}

/**
 * The database was made before the first release, so no migration leads from its schema to a released one. Nothing in
 * it was changed.
 */
export class UnreleasedDatabaseError extends MigrationError {
  override name = 'UnreleasedDatabaseError'
  readonly migration: string

  constructor(migration: string) {
    super(`The database ${unreleased(migration)}: start with an empty database.`)
    this.migration = migration
  }
}

/** What is wrong with data that such a migration has shaped. */
export function unreleased(migration: string): string {
  return `was made by an unreleased version of XCE Services (migration ${migration}) and can't be upgraded`
}

/** prisma/migrations of this package; src/store/database and dist/store/database are both three levels below its root. */
export const migrationsDirectory = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url))

// The key that Prisma Migrate takes for its advisory lock, and its table: `prisma migrate deploy` and this file agree with each other.
const advisoryLock = 72_707_369
const recordTable = `
CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) NOT NULL PRIMARY KEY,
  "checksum" VARCHAR(64) NOT NULL,
  "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL,
  "logs" TEXT,
  "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
  "applied_steps_count" INTEGER NOT NULL DEFAULT 0
)`

/**
 * A migration only expands, so that servers of the release before go on with the database. One that takes away what none of them needs any
 * more says in its first line which migration a server must know to go on: `-- needs NAME`. Its record in the database says the same to
 * servers that don't know the migration itself.
 */
const onlyExpands = '-- only expands'
const needsLine = /^-- needs (\S+)\s*$/

export interface Migration {
  readonly name: string
  readonly script: string
  readonly checksum: string
  /** The migration that a server must know to go on; null when this one only expands. */
  readonly needs: string | null
}

export interface Migrated {
  /** The names of the migrations that were applied now. */
  readonly applied: readonly string[]
  /** The names of migrations that a newer version applied and with which this version can go on. */
  readonly newer: readonly string[]
}

interface AppliedMigration {
  readonly migration_name: string
  readonly checksum: string
  readonly finished_at: unknown
  readonly logs: string | null
}

/**
 * Brings the database to this version's schema. Each migration and its record commit together. Two servers that start at once take turns. A
 * database that newer versions have only expanded is taken as it is. Throws MigrationError for one from which a newer version has taken away
 * what this one needs, one that was made before the first release, an edited migration, and one that failed. `through`: the last one to apply;
 * left out: all.
 */
export async function migrate(
  connection: MigrationConnection,
  directory = migrationsDirectory,
  through?: string,
): Promise<Migrated> {
  const shipped = await readMigrations(directory)
  await connection.query(`SELECT pg_advisory_lock(${advisoryLock})`)
  try {
    await connection.exec(recordTable)
    const records = await readApplied(connection)
    const early = earlierThan(
      shipped.map(({ name }) => name),
      records.map((record) => record.migration_name),
    )
    if (early !== null) throw new UnreleasedDatabaseError(early)
    const newer = newerThan(shipped, records)
    const waiting = notApplied(shipped, records).filter(({ name }) => through === undefined || name <= through)
    for (const migration of waiting) await apply(connection, migration)
    return { applied: waiting.map((migration) => migration.name), newer }
  } finally {
    await connection.query(`SELECT pg_advisory_unlock(${advisoryLock})`)
  }
}

/** The names of this version's migrations, in order. */
export async function shippedMigrations(directory = migrationsDirectory): Promise<string[]> {
  return (await readMigrations(directory)).map(({ name }) => name)
}

/** This version's migrations, in order. */
export async function readMigrations(directory = migrationsDirectory): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(
    names.sort().map(async (name) => {
      const script = await readFile(path.join(directory, name, 'migration.sql'), 'utf8')
      const [firstLine = ''] = script.split('\n', 1)
      return {
        name,
        script,
        checksum: createHash('sha256').update(script).digest('hex'),
        needs: needsLine.exec(firstLine)?.[1] ?? null,
      }
    }),
  )
}

async function readApplied(connection: MigrationConnection): Promise<AppliedMigration[]> {
  const { rows } = await connection.query(
    'SELECT "migration_name", "checksum", "finished_at", "logs" FROM "_prisma_migrations" WHERE "rolled_back_at" IS NULL',
  )
  return rows as AppliedMigration[]
}

/**
 * Returns the first of these migrations that is earlier than the first shipped one; null when there is none. Names
 * begin with the instant at which they were made, and a released migration is never taken away, so an earlier one was
 * made before the first release.
 */
export function earlierThan([first = '']: readonly string[], names: readonly string[]): string | null {
  return names.toSorted().find((name) => name < first) ?? null
}

/** The names of the migrations that this version does not know. */
function newerThan(shipped: readonly Migration[], applied: readonly AppliedMigration[]): string[] {
  const names = new Set(shipped.map((migration) => migration.name))
  const newer = applied.filter((record) => !names.has(record.migration_name))
  for (const { migration_name: name, finished_at, logs } of newer) {
    const needs = needsLine.exec(logs ?? '')?.[1] ?? null
    if (finished_at !== null && (logs === onlyExpands || (needs !== null && names.has(needs)))) continue
    throw new MigrationError(
      `The database has the migration ${name}, which this version does not know and cannot go on with: a newer version upgraded it${needs === null ? '' : `, and servers must know ${needs} since`}. Start that version or a later one.`,
    )
  }
  return newer.map((record) => record.migration_name).sort()
}

function notApplied(shipped: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  const records = new Map(applied.map((record) => [record.migration_name, record]))
  return shipped.filter((migration) => {
    const record = records.get(migration.name)
    if (!record) return true
    if (record.finished_at === null) {
      throw new MigrationError(
        `The migration ${migration.name} failed in this database before: ${record.logs ?? 'no log was kept'}. Repair it with "prisma migrate resolve".`,
      )
    }
    if (record.checksum !== migration.checksum) {
      throw new MigrationError(
        `The file of the migration ${migration.name} is not the one that was applied to this database: it was edited since. Restore the released file.`,
      )
    }
    return false
  })
}

/**
 * A statement that waits for a table keeps everybody behind it waiting. It waits for this long, lets the others pass,
 * and tries again.
 */
const lockSeconds = 2
const passMillis = 500
const mostLockedMillis = 180_000

async function apply(connection: MigrationConnection, migration: Migration): Promise<void> {
  for (const began = performance.now(); ; ) {
    try {
      return await applyOnce(connection, migration)
    } catch (error) {
      await connection.exec('ROLLBACK')
      if (!isLocked(error) || performance.now() - began > mostLockedMillis) {
        const reason = error instanceof Error ? error.message : String(error)
        throw new MigrationError(`The migration ${migration.name} failed and was undone: ${reason}`, { cause: error })
      }
      await wait(passMillis)
    }
  }
}

async function applyOnce(connection: MigrationConnection, migration: Migration): Promise<void> {
  await connection.exec('BEGIN')
  await connection.exec(`SET LOCAL lock_timeout = '${lockSeconds}s'`)
  await connection.exec(migration.script)
  await connection.query(
    'INSERT INTO "_prisma_migrations" ("id", "checksum", "migration_name", "logs", "finished_at", "applied_steps_count") VALUES ($1, $2, $3, $4, clock_timestamp(), 1)',
    [
      randomUUID(),
      migration.checksum,
      migration.name,
      migration.needs === null ? onlyExpands : `-- needs ${migration.needs}`,
    ],
  )
  await connection.exec('COMMIT')
}

/** Other sessions held locks for too long, or this one was the victim of a deadlock with them. */
function isLocked(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['55P03', '40P01'].includes(String(error.code))
}
