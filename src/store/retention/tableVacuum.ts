/** What the database counts of a table. */
export interface TableFigures {
  readonly table: string
  /** Rows when it was last vacuumed or analyzed; below 0: never. */
  readonly knownRows: number
  readonly deadRows: number
  readonly insertedSinceVacuum: number
  readonly changedSinceAnalyze: number
  /** Transactions since its oldest row was frozen. */
  readonly age: number
}

export interface TableVacuum {
  readonly table: string
  readonly vacuum: boolean
  readonly analyze: boolean
}

/** PostgreSQL's own measures (autovacuum_vacuum_…), and its freeze age halved: nobody is in a hurry here. */
const vacuum = { rows: 50, share: 0.2, inserted: 1_000 } as const
const analyze = { rows: 50, share: 0.1 } as const
const freezeAge = 100_000_000

/** What a table needs, as PostgreSQL's autovacuum would judge. Null: nothing. */
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
