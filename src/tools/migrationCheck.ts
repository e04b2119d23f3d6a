import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { PrismaPGlite } from 'pglite-prisma-adapter'
import {
  type Migration,
  type MigrationConnection,
  migrationsDirectory,
  readMigrations,
} from '../store/database/migrate.ts'
import { contractionsOf } from './contractions.ts'
import { loadSchemaEngine } from './schemaEngine.ts'

const remedy =
  'Take it away one release later, when no server needs it any more, and say so in the first line of the migration: "-- needs NAME", the last migration of the release before.'
const schemaPath = path.join(migrationsDirectory, '..', 'schema.prisma')

/** An embedded database to which the migrations are applied, one after the other. Making one takes seconds: there is one for everything. */
export class ShadowDatabase {
  readonly #database: PGlite
  readonly #connection: MigrationConnection
  #migrations: readonly Migration[] = []
  readonly #contractions: string[] = []

  private constructor(database: PGlite) {
    this.#database = database
    this.#connection = {
      exec: (script) => database.exec(script),
      query: (sql, params) => database.query(sql, params),
    }
  }

  /** With all migrations that there are. */
  static async open(): Promise<ShadowDatabase> {
    const shadow = new ShadowDatabase(await PGlite.create())
    await shadow.applyNew()
    return shadow
  }

  /** Applies those that were written since the last time. */
  async applyNew(): Promise<void> {
    const known = this.#migrations.length
    this.#migrations = await readMigrations()
    for (const [at, migration] of this.#migrations.entries()) if (at >= known) await this.#apply(migration, at)
  }

  async #apply(migration: Migration, at: number): Promise<void> {
    const { name, needs } = migration
    const contracted = await contractionsOf(this.#connection, migration)
    if (needs === null) this.#contractions.push(...contracted.map((what) => `${name}: ${what}.`))
    else if (!this.#migrations.slice(0, at).some((earlier) => earlier.name === needs))
      this.#contractions.push(`${name}: ${needs}, which it needs, is not before it.`)
  }

  /** The SQL that leads from the migrations to schema.prisma; null: they agree. */
  async missingSql(): Promise<string | null> {
    const file = { path: schemaPath, content: await readFile(schemaPath, 'utf8') }
    const engine = await loadSchemaEngine(new PrismaPGlite(this.#database), file)
    const { exitCode, stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files: [file], configDir: path.dirname(schemaPath) },
      to: { tag: 'schemaDatamodel', files: [file] },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    })
    return exitCode === 0 ? null : (stdout ?? '')
  }

  /**
   * What migrations take away from servers of the release before, which run beside this one's, unless a migration says which migration those
   * know that do not need it.
   */
  contractionMistakes(): string[] {
    if (this.#contractions.length === 0) return []
    return [
      `Migrations only expand: servers of the release before go on with the database meanwhile.\n${this.#contractions.join('\n')}\n${remedy}`,
    ]
  }

  close(): Promise<void> {
    return this.#database.close()
  }
}

/** Empty: schema.prisma says what the migrations make, and no migration takes from older servers what they need. */
export async function migrationMistakes(): Promise<string[]> {
  const shadow = await ShadowDatabase.open()
  try {
    const sql = await shadow.missingSql()
    if (sql === null) return shadow.contractionMistakes()
    return [
      `prisma/schema.prisma has changes without a migration: run "npm run migrations -- new NAME".\n${sql}`,
      ...shadow.contractionMistakes(),
    ]
  } finally {
    await shadow.close()
  }
}
