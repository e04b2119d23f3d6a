// This tool does not compile src/, because a schema changes before the code that uses it.
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { migrationsDirectory } from '../store/database/migrate.ts'
import { migrationMistakes, ShadowDatabase } from './migrationCheck.ts'

const usage = `npm run migrations -- check     fails when prisma/schema.prisma and the migrations differ, or a migration does not only expand
npm run migrations -- new NAME  writes the migration that makes them equal`

const equal =
  'prisma/schema.prisma and prisma/migrations are equal, and no migration takes away what older servers need.'

async function main([command, name, ...more]: readonly string[]): Promise<number> {
  if (command === '--help' || command === '-h') {
    console.log(usage)
    return 0
  }
  if (command === 'check' && name === undefined) return tell(await migrationMistakes(), equal)
  if (command === 'new' && name !== undefined && !name.startsWith('-') && more.length === 0) return makeMigration(name)
  console.error(`Give "check", or "new" and a name for the migration.\n\n${usage}`)
  return 2
}

async function makeMigration(name: string): Promise<number> {
  const shadow = await ShadowDatabase.open()
  try {
    const sql = await shadow.missingSql()
    if (sql === null) return tell(shadow.contractionMistakes(), equal)
    const file = await writeMigration(name, sql)
    await shadow.applyNew()
    return tell(shadow.contractionMistakes(), `Wrote ${file}`)
  } finally {
    await shadow.close()
  }
}

async function writeMigration(name: string, sql: string): Promise<string> {
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
  const directory = path.join(migrationsDirectory, `${stamp}_${name}`)
  await mkdir(directory, { recursive: true })
  await writeFile(path.join(directory, 'migration.sql'), sql)
  await writeFile(path.join(migrationsDirectory, 'migration_lock.toml'), 'provider = "postgresql"\n')
  return path.join(directory, 'migration.sql')
}

/** The exit status. */
function tell(mistakes: readonly string[], otherwise: string): number {
  for (const mistake of mistakes) console.error(mistake)
  if (mistakes.length > 0) return 1
  console.log(otherwise)
  return 0
}

process.exitCode = await main(process.argv.slice(2))
