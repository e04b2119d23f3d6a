import type { Revision } from '../../../model/id.ts'
import type { Meter } from '../../../model/metrics.ts'
import type { DatabaseClock } from '../../database/clock.ts'
import type { Database } from '../../database/database.ts'
import { isNeverSent } from '../../database/databaseErrors.ts'
import { isTransient, sqlErrorOf, uniqueViolation } from '../../database/sqlError.ts'
import { insertInto } from '../../rows/sql.ts'
import type { ClusterEntry } from '../entry.ts'
import { lookUpKey } from '../keys.ts'
import type { ClusterOutcome, Json, Remember } from '../outcome.ts'
import { BatchAbandoned, outcomeOfCutBatch } from '../services/sendBatch.ts'
import type { ClusterWritePlan } from './clusterFacts.ts'
import { planClusterWrite } from './clusterWritePlan.ts'
import { encodeClusterWrite } from './clusterWriteStatement.ts'

interface ClusterWriter {
  readonly database: Database
  readonly clock: DatabaseClock
  readonly newId: () => string
  readonly meter: Meter
  readonly isStopping: () => boolean
}

const mostTries = 20

/**
 * Writes one change that is not about a service. Returns the new head when it made a fact. Reads, decides and writes
 * again when another server was faster.
 */
export async function writeCluster(writer: ClusterWriter, entry: ClusterEntry): Promise<Revision | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      const done = await attemptWrite(writer, entry)
      if (done) {
        entry.resolve(done.outcome)
        return done.head
      }
    } catch (error) {
      const refused = sqlErrorOf(error)
      const isWorthAnother = refused
        ? refused.state === uniqueViolation || isTransient(refused.state)
        : error instanceof BatchAbandoned
      if (!isWorthAnother || attempt >= mostTries) throw error
    }
    if (attempt >= mostTries) throw new Error(`The change ${entry.change.kind} lost against others ${attempt} times.`)
  }
}

interface Done {
  readonly outcome: ClusterOutcome
  readonly head: Revision | null
}

/** Null means that the state has changed since the decision. */
async function attemptWrite(writer: ClusterWriter, { change, remember }: ClusterEntry): Promise<Done | null> {
  const { database, newId } = writer
  if (remember) {
    const known = await lookUpKey(database, remember)
    if (known !== null) return { outcome: known, head: null }
  }
  const plan = await planClusterWrite(database, change, newId)
  const kept = remember && { ...remember, result: plan.outcome as unknown as Json }
  if (plan.write === null) {
    // A refusal is not remembered (R17).
    if (kept && plan.outcome.kind !== 'refused') await keepKey(database, kept)
    return { outcome: plan.outcome, head: null }
  }
  const why = 'why' in change ? (change.why ?? null) : null
  const head = await sendClusterWrite(writer, plan.write, kept, why)
  return head === null ? null : { outcome: plan.outcome, head }
}

async function sendClusterWrite(
  { database, clock, newId, meter, isStopping }: ClusterWriter,
  write: NonNullable<ClusterWritePlan['write']>,
  remember: Remember | null,
  why: string | null,
): Promise<Revision | null> {
  const id = newId()
  const { text, parameters } = encodeClusterWrite(id, write, remember, why)
  const sentAt = clock.mark()
  try {
    const [row] = await database.prisma.$queryRawUnsafe<{ head: string; clock: number }[]>(text, ...parameters)
    if (!row) return null
    clock.observe(row.clock, sentAt)
    meter.count('commits')
    meter.observe('commitSeconds', (clock.mark() - sentAt) / 1000)
    return BigInt(row.head)
  } catch (error) {
    if (sqlErrorOf(error) !== null || isNeverSent(error)) throw error
    return (await outcomeOfCutBatch(database, id, error, isStopping)).head
  }
}

/** Nothing had to be written, but a use of the same key with another input must still be refused (R17). */
async function keepKey({ prisma }: Database, { subject, operation, key, inputHash, result }: Remember): Promise<void> {
  await prisma.$executeRawUnsafe(
    insertInto('IdempotencyKey', {
      subject: '$1',
      operation: '$2',
      key: '$3',
      inputHash: '$4',
      result: '$5::jsonb',
      at: 'clock_timestamp()',
    }),
    subject,
    operation,
    key,
    inputHash,
    JSON.stringify(result),
  )
}
