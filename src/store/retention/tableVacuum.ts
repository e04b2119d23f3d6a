/** The database's statistics of a table. */
export interface TableFigures {
  readonly table: string
  /** The number of rows when it was last vacuumed or analyzed; below 0 when it never was. */
  readonly knownRows: number
  readonly deadRows: number
  readonly insertedSinceVacuum: number
  readonly changedSinceAnalyze: number
  /** The number of transactions since its oldest row was frozen. */
  readonly age: number
}

export interface TableVacuum {
  readonly table: string
  readonly vacuum: boolean
  readonly analyze: boolean
}

/**
 * These are PostgreSQL's own measures (autovacuum_vacuum_…) with half its freeze age, because there is no hurry here.
 */
const vacuum = { rows: 50, share: 0.2, inserted: 1_000 } as const
const analyze = { rows: 50, share: 0.1 } as const
const freezeAge = 100_000_000

/** Returns what a table needs, as PostgreSQL's autovacuum would judge; null when it needs nothing. */
export function vacuumOf(figures: TableFigures): TableVacuum | null {
  const { table, deadRows, insertedSinceVacuum, changedSinceAnalyze, age } = figures
  const rows = Math.max(0, figures.knownRows)
  const care = {
    table,
    vacuum:
      deadRows > vacuum.rows + vacuum.share * rows ||
      insertedSinceVacuum > vacuum.inserted + vacuum.share * rows ||
      age > freezeAge,
    analyze: changedSinceAnalyze > analyze.rows + analyze.share * rows,
  }
  return care.vacuum || care.analyze ? care : null
}
