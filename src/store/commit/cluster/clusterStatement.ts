import type { Columns } from '../../rows/columns.ts'

/** What one kind of cluster write adds to the statement. */
export interface ClusterStatement {
  /** The one row of `input`. */
  readonly input: Columns
  /** Takes the locks, as everywhere the host before the worker, and returns a row when the decision still holds. */
  readonly guard: string
  /** Each part waits for `counter`, which has a row only when `guard` has one. */
  readonly writes: string
}

export const now = 'statement_timestamp()'

/**
 * The instant since which a row of Host or Worker is as it is. It stays the former instant when the row was like this
 * before.
 */
export function since(column: string, value: string): string {
  return `CASE WHEN t."${column}" = ${value} THEN t."${column}Since" ELSE ${now} END`
}
