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
  'Remove it one release later, when no server needs it any more, and say so in the first line of the migration: "-- needs NAME", where NAME is the last migration of the previous release.'
const schemaPath = path.join(migrationsDirectory, '..', 'schema.prisma')

/** An embedded database to which the migrations are applied in order. One serves both checks, because making one takes seconds. */
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

  /** Opens one to which all migrations are applied. */
  static async open(): Promise<ShadowDatabase> {
    const shadow = new ShadowDatabase(await PGlite.create())
    await shadow.applyNew()
    return shadow
  }

  /** Applies the migrations that were written since the last call. */
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

  /** The SQL that leads from the migrations to schema.prisma; null when they are equal. */
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
   * Lists what the migrations take away from servers of the previous release, which run beside the servers of this one. A
   * migration may take something away if it names an earlier migration: servers that know that one no longer need it.
   */
  contractionMistakes(): string[] {
    if (this.#contractions.length === 0) return []
    return [
      `Migrations may only expand the schema, because servers of the previous release use the database meanwhile.\n${this.#contractions.join('\n')}\n${remedy}`,
    ]
  }

  close(): Promise<void> {
    return this.#database.close()
  }
}

/** One sentence for each difference between schema.prisma and the migrations, and for what migrations take from older servers. */
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
