// node dist/tools/migrations.js check        fails when schema.prisma says something that the migrations don't
// node dist/tools/migrations.js new <name>   writes the migration that makes them agree
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { PrismaPGlite } from 'pglite-prisma-adapter'
import { migrate, migrationsDirectory } from '../store/migrate.ts'
import { loadSchemaEngine } from './schemaEngine.ts'

const schemaPath = path.join(migrationsDirectory, '..', 'schema.prisma')

/** The SQL that leads from the migrations to schema.prisma; null when they agree. */
async function missingSql(): Promise<string | null> {
  const shadow = await PGlite.create()
  try {
    await mkdir(migrationsDirectory, { recursive: true })
    await migrate({ exec: (script) => shadow.exec(script), query: (sql, params) => shadow.query(sql, params) }, migrationsDirectory)
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
    console.error('Say "check", or "new" and a name for the migration.')
    return 2
  }
  const sql = await missingSql()
  if (sql === null) {
    console.log('prisma/schema.prisma and prisma/migrations agree.')
    return 0
  }
  if (command === 'check' || !name) {
    console.error(`prisma/schema.prisma has changes without a migration: run "npm run migrations -- new <name>".\n${sql}`)
    return 1
  }
  console.log(`Wrote ${await writeMigration(name, sql)}`)
  return 0
}

process.exitCode = await main(process.argv.slice(2))
