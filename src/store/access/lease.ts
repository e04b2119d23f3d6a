import type { Instant, WorkerId } from '../../model/id.ts'
import type { Database } from '../database/database.ts'

/**
 * Renews a worker's lease by the database's clock. Null: its epoch is over, it must register anew (R15). `resync`: it is not REACHABLE, and
 * comes back by reporting everything; or the database is a backup that was restored, which does not know what it has reported since. `leftSeconds`: of the lease before; negative when it was over. No fact.
 */
export async function renewLease(
  { prisma }: Database,
  workerId: WorkerId,
  epoch: number,
  leaseSeconds: number,
): Promise<{ resync: boolean; leftSeconds: number } | null> {
  const [renewed] = await prisma.$queryRaw<{ resync: boolean; leftSeconds: number }[]>`
    WITH old AS MATERIALIZED (SELECT "id", "leaseUntil" FROM "Worker" WHERE "id" = ${workerId} FOR NO KEY UPDATE)
    UPDATE "Worker" t SET "leaseUntil" = clock_timestamp() + make_interval(secs => ${leaseSeconds}::int), "lastSeenAt" = clock_timestamp()
    FROM old WHERE t."id" = old."id" AND t."epoch" = ${epoch}
    RETURNING t."reachability" <> 'REACHABLE' OR t."restored" AS resync,
      extract(epoch FROM old."leaseUntil" - clock_timestamp())::float8 AS "leftSeconds"`
  return renewed ?? null
}

/** Counts the REACHABLE workers with ready replicas that no server has heard of since an instant of the database's clock. */
export async function countUnheardWorkers({ prisma }: Database, since: Instant): Promise<number> {
  const [row] = await prisma.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM "Worker" w
    WHERE w."reachability" = 'REACHABLE' AND w."lastSeenAt" < to_timestamp(${since / 1_000}::float8)
      AND EXISTS (SELECT FROM "Replica" r WHERE r."workerId" = w."id" AND r."state" = 'RUNNING' AND r."ready")`
  return row?.count ?? 0
}

/** The worker is to tell everything once more, within this epoch. No fact. */
export async function askForAll({ prisma }: Database, workerId: WorkerId, epoch: number): Promise<void> {
  await prisma.worker.updateMany({ where: { id: workerId, epoch }, data: { restored: true } })
}

/** The worker has told everything, within this epoch, since its row was restored from a backup or it was asked to. No fact. */
export async function noteToldAll({ prisma }: Database, workerId: WorkerId, epoch: number): Promise<void> {
  await prisma.worker.updateMany({ where: { id: workerId, epoch, restored: true }, data: { restored: false } })
}

/** Leases that end later than one that is renewed now: the database's clock was set back. They end then as that one would. No fact. */
export async function shortenLeases({ prisma }: Database, leaseSeconds: number): Promise<void> {
  await prisma.$executeRaw`
    UPDATE "Worker" SET "leaseUntil" = clock_timestamp() + make_interval(secs => ${leaseSeconds}::int)
    WHERE "leaseUntil" > clock_timestamp() + make_interval(secs => ${leaseSeconds}::int)`
}

/** Says that this server lives. Returns the database's clock. */
export async function writeHeartbeat({ prisma }: Database, serverId: string): Promise<Instant> {
  const [row] = await prisma.$queryRaw<{ at: Date }[]>`
    INSERT INTO "Server" ("id", "startedAt", "heartbeatAt") VALUES (${serverId}, clock_timestamp(), clock_timestamp())
    ON CONFLICT ("id") DO UPDATE SET "heartbeatAt" = clock_timestamp() RETURNING "heartbeatAt" AS at`
  if (!row) throw new Error('The heartbeat was not written.')
  return row.at.getTime()
}

/** The server stops; servers that were not heard of for a day are forgotten too. */
export async function forgetServer({ prisma }: Database, serverId: string): Promise<void> {
  await prisma.$executeRaw`DELETE FROM "Server" WHERE "id" = ${serverId} OR "heartbeatAt" < clock_timestamp() - interval '1 day'`
}

/** Who has a server lease, and for how long from now. */
export interface HeldLease {
  readonly mine: boolean
  readonly leftMillis: number
}

/** Takes or keeps for `seconds` what one server does at a time, unless another one has it. One that ends later was given before the clock was set back. */
export async function holdServerLease(
  { prisma }: Database,
  name: string,
  holder: string,
  seconds: number,
): Promise<HeldLease> {
  const [row] = await prisma.$queryRaw<HeldLease[]>`
    WITH taken AS (
      INSERT INTO "ServerLease" AS t ("name", "holder", "until") VALUES (${name}, ${holder}, clock_timestamp() + make_interval(secs => ${seconds}::float8))
      ON CONFLICT ("name") DO UPDATE SET "holder" = excluded."holder", "until" = excluded."until"
        WHERE t."holder" = excluded."holder" OR t."until" <= clock_timestamp() OR t."until" > excluded."until"
      RETURNING t."until")
    SELECT true AS mine, (extract(epoch FROM "until" - clock_timestamp()) * 1000)::float8 AS "leftMillis" FROM taken
    UNION ALL SELECT false, (extract(epoch FROM "until" - clock_timestamp()) * 1000)::float8 FROM "ServerLease"
    WHERE "name" = ${name} AND NOT EXISTS (SELECT FROM taken)`
  // Another server has taken it in this moment, too late for this statement to see its row.
  return row ?? { mine: false, leftMillis: seconds * 1000 }
}

/** Lets another server have it at once. */
export async function dropServerLease({ prisma }: Database, name: string, holder: string): Promise<void> {
  await prisma.$executeRaw`DELETE FROM "ServerLease" WHERE "name" = ${name} AND "holder" = ${holder}`
}
