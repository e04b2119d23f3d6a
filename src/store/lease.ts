import type { WorkerId } from '../model/id.ts'
import type { Database } from './database.ts'

/** Renews a worker's lease by the database's clock. False: its epoch is over, it must register anew (R15). No fact. */
export async function renewLease({ prisma }: Database, workerId: WorkerId, epoch: number, leaseSeconds: number): Promise<boolean> {
  const renewed = await prisma.$executeRaw`
    UPDATE "Worker" SET "leaseUntil" = clock_timestamp() + make_interval(secs => ${leaseSeconds}::int), "lastSeenAt" = clock_timestamp()
    WHERE "id" = ${workerId} AND "epoch" = ${epoch}`
  return renewed > 0
}
