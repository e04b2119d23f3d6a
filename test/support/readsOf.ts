import pg from 'pg'
import { vi } from 'vitest'
import type { Database } from '../../src/store/database.ts'

/** What a call cost the database. */
export interface Reads {
  readonly statements: number
  /** Rows of tables and entries of indexes that were read, those that a filter then left out as well. */
  readonly rows: number
}

/** pg knows whether it is being closed, its types do not. */
type Connection = pg.Client & { readonly _ending?: boolean }

// From the start: a connection keeps its counts to itself for a while, and is told to hand them over.
const queries = vi.spyOn(pg.Client.prototype, 'query')

/** What the database does for `call`, as the driver sends it and as the database itself counts it. Nothing else may use it meanwhile. */
export async function readsOf<T>(database: Database, call: () => Promise<T>): Promise<Reads & { readonly result: T }> {
  const before = await rowsRead(database)
  const sent = statementsSent()
  const result = await call()
  const statements = statementsSent() - sent
  return { result, statements, rows: (await rowsRead(database)) - before }
}

/** Prisma's. What a new connection of the pool is set up with is a plain text. */
function statementsSent(): number {
  return queries.mock.calls.filter(([query]) => typeof query === 'object').length
}

async function rowsRead({ prisma }: Database): Promise<number> {
  for (const connection of new Set(queries.mock.contexts as Connection[])) {
    if (connection._ending !== true) await connection.query('SELECT pg_stat_force_next_flush()')
  }
  const [row] = await prisma.$queryRaw<[{ rows: number }]>`
    SELECT ((SELECT sum(seq_tup_read) FROM pg_stat_user_tables) + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes))::float8 AS rows`
  return row.rows
}
