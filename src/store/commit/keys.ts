import { idempotencyKeyHours } from '../../model/retention.ts'
import type { Database } from '../database/database.ts'
import type { Json, Remember, Remembered } from './outcome.ts'
import { keyMismatch, type Refused } from './refusals.ts'

/** A write under its caller's key. Another write under the same key is the same write only when its input is equal. */
export type KeyUse = Omit<Remember, 'result'>

/** The answer to the use of a known key: what was kept for the same input, or a refusal for another input. */
export type KnownKey = Remembered | Refused

interface KeyRow {
  readonly subject: string
  readonly operation: string
  readonly key: string
  readonly inputHash: string
  readonly result: string
  readonly old: boolean
}

/** Two keys are the same when their subject, operation and key are equal. */
export function keyOf({ subject, operation, key }: Omit<KeyUse, 'inputHash'>): string {
  return JSON.stringify([subject, operation, key])
}

/** Returns the answer to the use of a key; null when the key is unknown or has expired. */
export async function lookUpKey(database: Database, use: KeyUse): Promise<KnownKey | null> {
  return (await lookUpKeys(database, [use])).get(keyOf(use)) ?? null
}

/** Returns the answers to these uses, by `keyOf`. Expired keys are forgotten. */
export async function lookUpKeys({ prisma }: Database, uses: readonly KeyUse[]): Promise<Map<string, KnownKey>> {
  const known = new Map<string, KnownKey>()
  if (uses.length === 0) return known
  const asked = new Map(uses.map((use) => [keyOf(use), use]))
  const rows = await prisma.$queryRawUnsafe<KeyRow[]>(
    `SELECT k."subject", k."operation", k."key", k."inputHash", k."result"::text AS result,
       k."at" < clock_timestamp() - interval '${idempotencyKeyHours} hours' AS old
     FROM "IdempotencyKey" k JOIN json_to_recordset($1::json) AS x("subject" text, "operation" text, "key" text)
       ON k."subject" = x."subject" AND k."operation" = x."operation" AND k."key" = x."key"`,
    JSON.stringify([...asked.values()].map(({ subject, operation, key }) => ({ subject, operation, key }))),
  )
  for (const row of rows) {
    if (row.old) {
      await prisma.$executeRawUnsafe(
        `DELETE FROM "IdempotencyKey" WHERE "subject" = $1 AND "operation" = $2 AND "key" = $3
           AND "at" < clock_timestamp() - interval '${idempotencyKeyHours} hours'`,
        row.subject,
        row.operation,
        row.key,
      )
      continue
    }
    const isSame = asked.get(keyOf(row))?.inputHash === row.inputHash
    known.set(keyOf(row), isSame ? { kind: 'remembered', result: JSON.parse(row.result) as Json } : keyMismatch(row))
  }
  return known
}
