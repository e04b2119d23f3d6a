import type { Columns } from '../../rows/columns.ts'

/** What one kind of cluster write adds to the statement. */
export interface ClusterStatement {
  /** The one row of `input`. */
  readonly input: Columns
  /** Takes the locks (host before worker, as everywhere), and has a row when the decision still holds. */
  readonly guard: string
  /** Each part waits for `counter`, which has a row only where `guard` has. */
  readonly writes: string
}

export const now = 'statement_timestamp()'

/** Since when a row of Host or Worker is as it is: the former instant, where it was so before. */
export function since(column: string, value: string): string {
  return `CASE WHEN t."${column}" = ${value} THEN t."${column}Since" ELSE ${now} END`
}
