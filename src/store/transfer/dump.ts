import { earlierThan, type MigrationConnection, shippedMigrations, unreleased } from '../database/migrate.ts'
import { encodeLine, endKey, formatVersion, headerKey, TransferError } from './format.ts'
import { knownTables, type TableTransfer, transferred } from './tables.ts'
import { TouchedReplicas } from './touchedReplicas.ts'

const rowsPerPage = 1_000

interface DumpRow {
  readonly row: string
  readonly key: string
}

/**
 * Yields the lines of a dump: the state at exactly one revision, while servers go on. Everything that lives is small
 * and is read in one transaction of a single snapshot. History is read after it, in statements of 1,000 rows each:
 * events up to that revision, and ended replicas, which never change. Replicas that ended after that moment are known
 * by the facts since then and are left out, because the dump has them as they were. So no snapshot is held for as long
 * as history takes, which would slow every commit.
 */
export async function* dumpLines(connection: MigrationConnection, software: string): AsyncGenerator<string> {
  const counts: Record<string, number> = {}
  const lines = function* (table: string, rows: readonly { readonly row: string }[]) {
    counts[table] = (counts[table] ?? 0) + rows.length
    for (const { row } of rows) yield encodeLine(table, row)
  }
  await connection.exec(`SET timezone = 'UTC'`)
  await checkTables(connection)
  await connection.exec('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  let head: string
  try {
    // A frozen dump must not hold its snapshot for ever.
    await connection.exec(`SET LOCAL idle_in_transaction_session_timeout = '60s'`)
    const header = await readHeader(connection, software)
    head = header.head
    yield encodeLine(headerKey, JSON.stringify(header))
    for (const table of transferred) for await (const rows of living(connection, table)) yield* lines(table.table, rows)
    await connection.exec('COMMIT')
  } catch (error) {
    await connection.exec('ROLLBACK').catch(() => undefined)
    throw error
  }
  const touched = new TouchedReplicas(connection, BigInt(head))
  for (const table of transferred) {
    for await (const rows of history(connection, table)) {
      if (table.table === 'Event') {
        const events = rows.filter(({ key }) => BigInt(key) <= BigInt(head))
        yield* lines(table.table, events)
        if (events.length < rows.length) break
      } else {
        await touched.catchUp()
        yield* lines(
          table.table,
          rows.filter(({ key }) => !touched.has(key)),
        )
      }
    }
  }
  yield encodeLine(endKey, JSON.stringify({ rows: counts }))
}

/** Refuses a database to which a newer version has added tables, because they would not be in the dump. */
async function checkTables(connection: MigrationConnection): Promise<void> {
  const { rows } = await connection.query(`SELECT tablename::text AS name FROM pg_tables WHERE schemaname = 'public'`)
  const names = (rows as { name: string }[]).map(({ name }) => name)
  if (!names.includes('_prisma_migrations'))
    throw new TransferError('The database has no data of XCE Services: there is nothing to dump.')
  const strange = names.filter((name) => !knownTables.has(name))
  if (strange.length > 0) {
    throw new TransferError(
      `The database has the tables ${strange.join(', ')}, which this version does not know: dump it with the version that made them.`,
    )
  }
}

async function readHeader({ query }: MigrationConnection, software: string) {
  const { rows } = await query(
    `SELECT "head"::text AS head, to_char(now(), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at,
       ARRAY(SELECT "migration_name"::text FROM "_prisma_migrations"
         WHERE "finished_at" IS NOT NULL AND "rolled_back_at" IS NULL ORDER BY 1) AS migrations
     FROM "Feed" WHERE "id" = 1`,
  )
  const [state] = rows as { head: string; at: string; migrations: string[] }[]
  if (!state) throw new TransferError('The database has no fact log: its table Feed is empty.')
  const early = earlierThan(await shippedMigrations(), state.migrations)
  if (early !== null)
    throw new TransferError(`The database ${unreleased(early)}: its dump could not be loaded anywhere either.`)
  return { version: formatVersion, software, ...state }
}

async function* living({ exec, query }: MigrationConnection, { table, order, living: where = 'true' }: TableTransfer) {
  await exec(
    `DECLARE page NO SCROLL CURSOR FOR SELECT to_json(t)::text AS row FROM "${table}" t WHERE ${where} ORDER BY ${columns(order)}`,
  )
  for (;;) {
    const { rows } = await query(`FETCH ${rowsPerPage} FROM page`)
    yield rows as { row: string }[]
    if (rows.length < rowsPerPage) break
  }
  await exec('CLOSE page')
}

async function* history({ query }: MigrationConnection, { table, order, history: where }: TableTransfer) {
  const [key] = order
  if (where === undefined || key === undefined) return
  let last: string | null = null
  for (;;) {
    const after = last === null ? '' : `AND t."${key}" > $1`
    const { rows } = await query(
      `SELECT to_json(t)::text AS row, t."${key}"::text AS key FROM "${table}" t WHERE ${where} ${after} ORDER BY t."${key}" LIMIT ${rowsPerPage}`,
      last === null ? [] : [last],
    )
    yield rows as DumpRow[]
    if (rows.length < rowsPerPage) return
    last = (rows as DumpRow[]).at(-1)?.key ?? null
  }
}

function columns(names: readonly string[]): string {
  return names.map((name) => `t."${name}"`).join(', ')
}
