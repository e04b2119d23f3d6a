import { idempotencyKeyHours } from '../../model/retention.ts'
import type { Database } from '../database.ts'
import type { Json, Remember } from './outcome.ts'

export type Known = { readonly kind: 'remembered'; readonly result: Json } | { readonly kind: 'mismatch' }

interface KeyRow {
  readonly subject: string
  readonly operation: string
  readonly key: string
  readonly inputHash: string
  readonly result: string
  readonly old: boolean
}

/** Two keys are the same when subject, operation and key are. */
export function keyOf({ subject, operation, key }: Pick<Remember, 'subject' | 'operation' | 'key'>): string {
  return JSON.stringify([subject, operation, key])
}

/** What is known of these keys, by `keyOf`. Keys that are over are forgotten. */
export async function lookUpKeys({ prisma }: Database, remembers: readonly Remember[]): Promise<Map<string, Known>> {
  const known = new Map<string, Known>()
  if (remembers.length === 0) return known
  const asked = new Map(remembers.map((remember) => [keyOf(remember), remember]))
  const rows = await prisma.$queryRawUnsafe<KeyRow[]>(
    `SELECT k."subject", k."operation", k."key", k."inputHash", k."result"::text AS result,
       k."at" < clock_timestamp() - interval '${idempotencyKeyHours} hours' AS old
     FROM "IdempotencyKey" k JOIN json_to_recordset($1::json) AS x("subject" text, "operation" text, "key" text)
       ON k."subject" = x."subject" AND k."operation" = x."operation" AND k."key" = x."key"`,
    JSON.stringify([...asked.values()]),
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
    const same = asked.get(keyOf(row))?.inputHash === row.inputHash
    known.set(keyOf(row), same ? { kind: 'remembered', result: JSON.parse(row.result) as Json } : { kind: 'mismatch' })
  }
  return known
}
