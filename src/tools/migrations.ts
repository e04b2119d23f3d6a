// node dist/tools/migrations.js check        fails when schema.prisma and the migrations differ, or a migration does not only expand
// node dist/tools/migrations.js new <name>   writes the migration that makes them equal
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { PrismaPGlite } from 'pglite-prisma-adapter'
import { type MigrationConnection, migrate, migrationsDirectory, readMigrations } from '../store/database/migrate.ts'
import { contractionsOf } from './contractions.ts'
import { loadSchemaEngine } from './schemaEngine.ts'

const remedy =
  'Remove it one release later, when no server needs it any more, and say so in the first line of the migration: "-- needs NAME", where NAME is the last migration of the previous release.'
const schemaPath = path.join(migrationsDirectory, '..', 'schema.prisma')

/** The SQL that leads from the migrations to schema.prisma; null when they are equal. */
async function missingSql(): Promise<string | null> {
  const shadow = await PGlite.create()
  try {
    await mkdir(migrationsDirectory, { recursive: true })
    await migrate(
      { exec: (script) => shadow.exec(script), query: (sql, params) => shadow.query(sql, params) },
      migrationsDirectory,
    )
    const file = { path: schemaPath, content: await readFile(schemaPath, 'utf8') }
    const engine = await loadSchemaEngine(new PrismaPGlite(shadow), file)
    const { exitCode, stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files: [file], configDir: path.dirname(schemaPath) },
      to: { tag: 'schemaDatamodel', files: [file] },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    })
    return exitCode === 0 ? null : (stdout ?? '')
  } finally {
    await shadow.close()
  }
}

/**
 * Lists what the migrations take away from servers of the previous release, which run beside the servers of this one. A
 * migration may take something away if it names an earlier migration: servers that know that one no longer need it.
 */
async function contractions(): Promise<string[]> {
  const migrations = await readMigrations()
  const shadow = await PGlite.create()
  const connection: MigrationConnection = {
    exec: (script) => shadow.exec(script),
    query: (sql, params) => shadow.query(sql, params),
  }
  try {
    const found: string[] = []
    for (const [at, migration] of migrations.entries()) {
      const { name, needs } = migration
      const contracted = await contractionsOf(connection, migration)
      if (needs === null) found.push(...contracted.map((what) => `${name}: ${what}.`))
      else if (!migrations.slice(0, at).some((earlier) => earlier.name === needs))
        found.push(`${name}: ${needs}, which it needs, is not before it.`)
    }
    return found
  } finally {
    await shadow.close()
  }
}

async function writeMigration(name: string, sql: string): Promise<string> {
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
  const directory = path.join(migrationsDirectory, `${stamp}_${name}`)
  await mkdir(directory)
  await writeFile(path.join(directory, 'migration.sql'), sql)
  await writeFile(path.join(migrationsDirectory, 'migration_lock.toml'), 'provider = "postgresql"\n')
  return path.join(directory, 'migration.sql')
}

async function main([command, name]: readonly string[]): Promise<number> {
  if (command !== 'check' && !(command === 'new' && name)) {
    console.error('Give "check", or "new" and a name for the migration.')
    return 2
  }
  const sql = await missingSql()
  if (sql !== null && (command === 'check' || !name)) {
    console.error(
      `prisma/schema.prisma has changes without a migration: run "npm run migrations -- new <name>".\n${sql}`,
    )
    return 1
  }
  if (sql !== null && name) console.log(`Wrote ${await writeMigration(name, sql)}`)
  const found = await contractions()
  if (found.length > 0) {
    console.error(
      `Migrations may only expand the schema, because servers of the previous release use the database meanwhile.\n${found.join('\n')}\n${remedy}`,
    )
    return 1
  }
  if (sql === null)
    console.log(
      'prisma/schema.prisma and prisma/migrations are equal, and no migration takes away what older servers need.',
    )
  return 0
}

process.exitCode = await main(process.argv.slice(2))
