import type { Database } from '../database/database.ts'
import { type TableFigures, type TableVacuum, vacuumOf } from './tableVacuum.ts'

export type VacuumStep = () => Promise<void>

/** PGlite writes no checkpoint until it is closed, so its write-ahead log would grow with every commit. */
const logBytesPerCheckpoint = 32 * 1_048_576

const figuresText = `
SELECT quote_ident(c.relname) AS table, c.reltuples::float8 AS "knownRows", s.n_dead_tup::float8 AS "deadRows",
  s.n_ins_since_vacuum::float8 AS "insertedSinceVacuum", s.n_mod_since_analyze::float8 AS "changedSinceAnalyze", age(c.relfrozenxid)::float8 AS age
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_stat_all_tables s ON s.relid = c.oid
WHERE c.relkind = 'r' AND n.nspname IN ('public', 'pg_catalog') ORDER BY c.relname`

/**
 * Lists what the database needs now that rows have come and gone, as steps of one statement each, so that commits pass
 * in between. PostgreSQL's autovacuum does it except for the counter row, which every commit of every server rewrites.
 * PGlite has no such process, so it gets here what autovacuum and the checkpointer would do, judged by the same
 * figures.
 */
export async function vacuumSteps(database: Database): Promise<readonly VacuumStep[]> {
  if (database.kind === 'postgresql') return [() => run(database, 'VACUUM (SKIP_LOCKED) "Feed"')]
  // Without this statement the figures are up to a second late.
  await database.prisma.$queryRaw`SELECT pg_stat_force_next_flush()::text`
  const figures = await database.prisma.$queryRawUnsafe<TableFigures[]>(figuresText)
  const steps = figures.flatMap((table) => tableSteps(database, vacuumOf(table)))
  return (await logBytes(database)) > logBytesPerCheckpoint ? [...steps, () => run(database, 'CHECKPOINT')] : steps
}

function tableSteps(database: Database, care: TableVacuum | null): VacuumStep[] {
  if (care === null) return []
  return [
    ...(care.vacuum ? [() => run(database, `VACUUM ${care.table}`)] : []),
    ...(care.analyze ? [() => analyze(database, care.table)] : []),
  ]
}

async function logBytes({ prisma }: Database): Promise<number> {
  const [row] = await prisma.$queryRaw<{ bytes: number }[]>`
    SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::float8 AS bytes FROM pg_control_checkpoint()`
  return row?.bytes ?? 0
}

/**
 * A sample of 3,000 rows instead of 30,000 takes a tenth of the time, in which the only connection does nothing else.
 */
async function analyze({ prisma }: Database, table: string): Promise<void> {
  await prisma.$transaction([
    prisma.$executeRaw`SET LOCAL default_statistics_target = 10`,
    prisma.$executeRawUnsafe(`ANALYZE ${table}`),
  ])
}

async function run({ prisma }: Database, statement: string): Promise<void> {
  await prisma.$executeRawUnsafe(statement)
}
