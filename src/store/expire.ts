import type { Database } from './database.ts'

/**
 * Deletes what is of use for a while only: batch ids (asked for within moments of a cut connection) after an hour, idempotency keys after their
 * 24 h (R17). No fact, and nothing depends on when it runs; returns the rows deleted.
 */
export async function expireRecords({ prisma }: Database): Promise<number> {
  const batches = await prisma.$executeRaw`DELETE FROM "Batch" WHERE "at" < clock_timestamp() - interval '1 hour'`
  const keys = await prisma.$executeRaw`DELETE FROM "IdempotencyKey" WHERE "at" < clock_timestamp() - interval '24 hours'`
  return batches + keys
}
