import type { Instant, WorkerId } from '../../model/id.ts'
import type { Database } from '../database/database.ts'

/**
 * Renews a worker's lease by the database's clock. Returns null when its epoch is over, and the worker must register
 * again (R15). `resync` asks the worker to report everything: it is not REACHABLE and comes back in this way, or the
 * database was restored from a backup, which does not have its latest reports. `leftSeconds` is what was left of the
 * lease, negative when it was over. This makes no fact.
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

/** Asks the worker to report everything once more, within this epoch. This makes no fact. */
export async function askForAll({ prisma }: Database, workerId: WorkerId, epoch: number): Promise<void> {
  await prisma.worker.updateMany({ where: { id: workerId, epoch }, data: { restored: true } })
}

/**
 * The worker has reported everything within this epoch, after its row was restored from a backup or it was asked to.
 * This makes no fact.
 */
export async function noteToldAll({ prisma }: Database, workerId: WorkerId, epoch: number): Promise<void> {
  await prisma.worker.updateMany({ where: { id: workerId, epoch, restored: true }, data: { restored: false } })
}

/**
 * Shortens leases that end later than one that is renewed now, which happens only after the database's clock was set
 * back. They then end when that one does. This makes no fact.
 */
export async function shortenLeases({ prisma }: Database, leaseSeconds: number): Promise<void> {
  await prisma.$executeRaw`
    UPDATE "Worker" SET "leaseUntil" = clock_timestamp() + make_interval(secs => ${leaseSeconds}::int)
    WHERE "leaseUntil" > clock_timestamp() + make_interval(secs => ${leaseSeconds}::int)`
}

/** Writes this server's heartbeat. Returns the database's clock. */
export async function writeHeartbeat({ prisma }: Database, serverId: string): Promise<Instant> {
  const [row] = await prisma.$queryRaw<{ at: Date }[]>`
    INSERT INTO "Server" ("id", "startedAt", "heartbeatAt") VALUES (${serverId}, clock_timestamp(), clock_timestamp())
    ON CONFLICT ("id") DO UPDATE SET "heartbeatAt" = clock_timestamp() RETURNING "heartbeatAt" AS at`
  if (!row) throw new Error('The heartbeat was not written.')
  return row.at.getTime()
}

/** Forgets this server, which stops, and servers without a heartbeat for a day. */
export async function forgetServer({ prisma }: Database, serverId: string): Promise<void> {
  await prisma.$executeRaw`DELETE FROM "Server" WHERE "id" = ${serverId} OR "heartbeatAt" < clock_timestamp() - interval '1 day'`
}

/** The holder of a server lease, and the time left from now. */
export interface HeldLease {
  readonly mine: boolean
  readonly leftMillis: number
}

/**
 * Takes or keeps a server lease for `seconds`, unless another server has it. A lease that ends later than it could was
 * given before the clock was set back, and is taken over.
 */
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
  // Another server took the lease at this moment, too late for this statement to see its row.
  return row ?? { mine: false, leftMillis: seconds * 1000 }
}

/** Gives the lease up, so that another server can have it at once. */
export async function dropServerLease({ prisma }: Database, name: string, holder: string): Promise<void> {
  await prisma.$executeRaw`DELETE FROM "ServerLease" WHERE "name" = ${name} AND "holder" = ${holder}`
}
