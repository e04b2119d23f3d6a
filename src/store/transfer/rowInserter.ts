import type { MigrationConnection } from '../database/migrate.ts'

const mostRows = 500
const mostCharacters = 1_000_000

interface Column {
  readonly name: string
  readonly type: string
  readonly required: boolean
}

/** Inserts rows that are JSON objects, many with one statement. Columns that a row lacks are null. */
export class RowInserter {
  /** The waiting rows by table. */
  readonly counts = new Map<string, number>()
  readonly #connection: MigrationConnection
  readonly #statements = new Map<string, string>()
  #table = ''
  #rows: string[] = []
  #characters = 0

  constructor(connection: MigrationConnection) {
    this.#connection = connection
  }

  async add(table: string, json: string): Promise<void> {
    if (table !== this.#table || this.#rows.length >= mostRows || this.#characters >= mostCharacters) await this.flush()
    this.#table = table
    this.#rows.push(json)
    this.#characters += json.length
    this.counts.set(table, (this.counts.get(table) ?? 0) + 1)
  }

  async flush(): Promise<void> {
    if (this.#rows.length === 0) return
    const rows = this.#rows
    this.#rows = []
    this.#characters = 0
    const statement = this.#statements.get(this.#table) ?? (await this.#insertOf(this.#table))
    this.#statements.set(this.#table, statement)
    await this.#connection.query(statement, [`[${rows.join(',')}]`])
  }

  async #insertOf(table: string): Promise<string> {
    const { rows } = await this.#connection.query(
      `SELECT column_name::text AS name, data_type::text AS type, is_nullable = 'NO' AS required
       FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1 ORDER BY ordinal_position`,
      [table],
    )
    const columns = rows as Column[]
    const names = columns.map(({ name }) => `"${name}"`).join(', ')
    const values = columns.map(({ name, type, required }) =>
      // JSON has only one null. In a column that cannot be NULL it is the JSON value.
      required && type === 'jsonb' ? `coalesce(x."${name}", 'null'::jsonb)` : `x."${name}"`,
    )
    return `INSERT INTO "${table}" (${names}) SELECT ${values.join(', ')} FROM json_populate_recordset(NULL::"${table}", $1::json) x`
  }
}
