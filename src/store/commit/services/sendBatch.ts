import { setTimeout as wait } from 'node:timers/promises'
import { addTo } from '../../../model/groupBy.ts'
import type { Revision, WorkerId } from '../../../model/id.ts'
import type { DatabaseClock } from '../../database/clock.ts'
import type { Database } from '../../database/database.ts'
import { DatabaseError, databaseErrorOf, patienceMillis } from '../../database/databaseErrors.ts'
import { sqlErrorOf, uniqueViolation } from '../../database/sqlError.ts'
import type { Sql } from '../../read/snapshot.ts'
import { insertInto } from '../../rows/sql.ts'
import { type BatchItem, encodeBatch } from './batch.ts'
import type { Precondition } from './preconditions.ts'

export type Verdict = 'stale' | 'fenced' | 'precondition' | 'quota'

/** The statement's answer. Positions are those in the batch. */
export interface Answer {
  /** The head before and after; null when no fact was written. */
  readonly base: Revision | null
  readonly head: Revision | null
  readonly refused: ReadonlyMap<number, Verdict>
  /** Workers that have another epoch by now. */
  readonly fenced: ReadonlyMap<number, readonly WorkerId[]>
  /** Hosts and workers whose state is not what the intents assumed. */
  readonly preconditions: ReadonlyMap<number, readonly Precondition[]>
}

/** The batch was cut and will certainly never be applied, so its intents are decided again. */
export class BatchAbandoned extends Error {
  override name = 'BatchAbandoned'
}

interface ResultRow {
  readonly result: string
  readonly clock: number
}

/** What is kept in Batch.result. */
interface StatementAnswer {
  readonly base: string | null
  readonly head: string | null
  readonly refused: readonly { readonly ord: number; readonly verdict: Verdict }[] | null
  readonly fenced?: readonly { readonly ord: number; readonly worker: WorkerId }[] | null
  readonly preconditions?: readonly { readonly ord: number; readonly precondition: Precondition }[] | null
  readonly abandoned?: true
}

/** Runs the statement once, in `sql`. Errors of the database are thrown as they come. */
export async function sendBatch(
  sql: Sql,
  clock: DatabaseClock,
  id: string,
  items: readonly BatchItem[],
  versionsKept: number | null,
): Promise<Answer> {
  const { text, parameters } = encodeBatch(id, items, versionsKept)
  const sentAt = clock.mark()
  const [row] = await sql.$queryRawUnsafe<ResultRow[]>(text, ...parameters)
  if (!row) throw new Error('The commit statement gave no answer.')
  clock.observe(row.clock, sentAt)
  return toAnswer(JSON.parse(row.result) as StatementAnswer)
}

/**
 * Finds out what became of a batch whose connection was cut. Either it was committed, and this returns its answer; or
 * its id is taken here, so that it can never commit, and BatchAbandoned is thrown. It asks again while the database
 * does not answer, as long as a caller may wait or until `isStopping`; then it throws a DatabaseError that says that
 * nobody knows. The batch's guards hold whatever becomes of it after that.
 */
export async function outcomeOfCutBatch(
  database: Database,
  id: string,
  cause: unknown,
  isStopping: () => boolean,
): Promise<Answer> {
  const askedAt = performance.now()
  for (let attempt = 0; ; attempt++) {
    try {
      const answer = await claim(database, id)
      if (answer.abandoned) throw new BatchAbandoned('The batch was cut before it was committed.', { cause })
      return toAnswer(answer)
    } catch (error) {
      if (error instanceof BatchAbandoned) throw error
      if (isStopping() || performance.now() - askedAt > patienceMillis)
        throw new DatabaseError('UNREACHABLE', 'UNKNOWN', cause)
      await wait(Math.min(2_000, 20 * 2 ** attempt))
    }
  }
}

/** Takes the batch's id, or reads what took it before. It waits for a statement that still runs under this id. */
async function claim({ prisma }: Database, id: string): Promise<StatementAnswer> {
  try {
    await prisma.$queryRawUnsafe(
      `${insertInto('Batch', { id: '$1', result: `'{"abandoned": true}'::jsonb`, at: 'clock_timestamp()' })} RETURNING 1 AS done`,
      id,
    )
  } catch (error) {
    // A database that has become read-only takes no id, but still shows the ones that it has.
    if (sqlErrorOf(error)?.state !== uniqueViolation && databaseErrorOf(error) !== 'READ_ONLY') throw error
  }
  const batch = await prisma.batch.findUniqueOrThrow({ where: { id } })
  return batch.result as StatementAnswer
}

function toAnswer(answer: StatementAnswer): Answer {
  return {
    base: answer.base === null ? null : BigInt(answer.base),
    head: answer.head === null ? null : BigInt(answer.head),
    refused: new Map((answer.refused ?? []).map(({ ord, verdict }) => [ord, verdict])),
    fenced: grouped(answer.fenced ?? [], ({ worker }) => worker),
    preconditions: grouped(answer.preconditions ?? [], ({ precondition }) => precondition),
  }
}

function grouped<T extends { readonly ord: number }, V>(rows: readonly T[], value: (row: T) => V): Map<number, V[]> {
  const groups = new Map<number, V[]>()
  for (const row of rows) addTo(groups, row.ord, value(row))
  return groups
}
