import {
  earlierThan,
  type MigrationConnection,
  migrate,
  migrationsDirectory,
  shippedMigrations,
  unreleased,
} from '../database/migrate.ts'
import { type DumpEnd, type DumpHeader, decodeLine, endKey, formatVersion, headerKey, TransferError } from './format.ts'
import { askAllWorkers, raised, setHead } from './restored.ts'
import { RowInserter } from './rowInserter.ts'
import { transferred } from './tables.ts'

export interface Loaded {
  readonly header: DumpHeader
  readonly rows: number
  readonly head: bigint
}

/**
 * Loads a dump into an empty database, completely or not at all. The database first gets the schema of the dump's rows,
 * then the rows, then the later migrations of this version. The fact log starts empty, above all revisions that were
 * ever given.
 */
export async function loadLines(
  connection: MigrationConnection,
  lines: AsyncIterable<string>,
  directory = migrationsDirectory,
): Promise<Loaded> {
  const reader = lines[Symbol.asyncIterator]()
  const header = parseHeader((await reader.next()).value)
  await prepareSchema(connection, header, directory)
  await connection.exec(`SET timezone = 'UTC'`)
  await connection.exec('BEGIN')
  let loaded: Loaded
  try {
    // A server that starts meanwhile waits, and then finds the data.
    await connection.exec('LOCK TABLE "Feed", "Token", "Service" IN ACCESS EXCLUSIVE MODE')
    await clear(connection)
    const rows = await insertRows(connection, reader)
    const head = raised(BigInt(header.head))
    await setHead(connection, head)
    await askAllWorkers(connection)
    await connection.exec('COMMIT')
    loaded = { header, rows, head }
  } catch (error) {
    await connection.exec('ROLLBACK').catch(() => undefined)
    throw error
  }
  await migrate(connection, directory)
  await connection.exec('ANALYZE')
  return loaded
}

function parseHeader(line: string | undefined): DumpHeader {
  if (!line?.startsWith(`{"${headerKey}":`))
    throw new TransferError('This file is not a dump of XCE Services. Nothing was loaded.')
  const header = JSON.parse(decodeLine(line).json) as DumpHeader
  if (header.version > formatVersion) {
    throw new TransferError(
      `The dump has the format ${header.version}, this version reads up to ${formatVersion}: load it with XCE Services ${header.software} or later.`,
    )
  }
  return header
}

async function prepareSchema(
  connection: MigrationConnection,
  { migrations, software }: DumpHeader,
  directory: string,
): Promise<void> {
  const shipped = await shippedMigrations(directory)
  const early = earlierThan(shipped, migrations)
  if (early !== null) throw new TransferError(`The dump ${unreleased(early)}: start with an empty database.`)
  const unknown = migrations.find((name) => !shipped.includes(name))
  if (unknown !== undefined) {
    throw new TransferError(
      `The dump has the migration ${unknown}, which this version does not know: load it with XCE Services ${software} or later.`,
    )
  }
  await migrate(connection, directory, migrations.at(-1))
  const { rows } = await connection.query(
    'SELECT "migration_name"::text AS name FROM "_prisma_migrations" WHERE "finished_at" IS NOT NULL',
  )
  const later = (rows as { name: string }[]).find(({ name }) => !migrations.includes(name))
  if (later) {
    throw new TransferError(
      `The database has the migration ${later.name}, which the dump was made without: load it into a new database, which gets it afterwards.`,
    )
  }
}

/** Removes the rows that the migrations themselves inserted. Refuses a database that has more than those. */
async function clear({ query, exec }: MigrationConnection): Promise<void> {
  const used: string[] = []
  for (const { table } of transferred) {
    if (table === 'Project' || table === 'Queue') continue
    const { rows } = await query(`SELECT 1 FROM "${table}" LIMIT 1`)
    if (rows.length > 0) used.push(table)
  }
  const { rows } = await query('SELECT 1 FROM "Feed" WHERE "head" > 0')
  if (rows.length > 0 || used.length > 0) {
    const what = used.length > 0 ? `there are rows in ${used.join(', ')}` : 'facts were committed'
    throw new TransferError(
      `The database is not empty (${what}): a dump is loaded only into a new one. Nothing was changed.`,
    )
  }
  await exec('DELETE FROM "Project"; DELETE FROM "Queue"')
}

async function insertRows(connection: MigrationConnection, lines: AsyncIterator<string>): Promise<number> {
  const inserter = new RowInserter(connection)
  for (;;) {
    const { value, done } = await lines.next()
    if (done) throw new TransferError('The dump ends early: the file is not whole. Nothing was loaded.')
    const { key, json } = decodeLine(value)
    if (key === endKey) {
      await inserter.flush()
      checkCounts(inserter.counts, (JSON.parse(json) as DumpEnd).rows)
      return [...inserter.counts.values()].reduce((sum, count) => sum + count, 0)
    }
    if (!transferred.some(({ table }) => table === key)) {
      throw new TransferError(
        `The dump has rows of a table ${key}, which this version does not know. Nothing was loaded.`,
      )
    }
    await inserter.add(key, json)
  }
}

function checkCounts(counts: ReadonlyMap<string, number>, promised: DumpEnd['rows']): void {
  for (const [table, count] of Object.entries(promised)) {
    const got = counts.get(table) ?? 0
    if (got !== count)
      throw new TransferError(`The dump promises ${count} rows of ${table} and has ${got}. Nothing was loaded.`)
  }
}
