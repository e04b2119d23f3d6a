import type { HostId } from '../../model/id.ts'
import type { WatchedPort } from '../../model/watchedPort.ts'
import { mostWatchedPorts } from '../../model/watchedPort.ts'
import type { Database } from '../database/database.ts'

/** The ports of a host whose worker tells when they are free again: those that end first come first. */
export function readWatchedPorts(
  { prisma }: Pick<Database, 'prisma'>,
  hostId: HostId,
): Promise<readonly WatchedPort[]> {
  return prisma.$queryRaw`
    SELECT "port", "protocol"::text AS protocol, ceil(extract(epoch FROM "quarantinedUntil" - clock_timestamp()))::int AS seconds
    FROM "HostPort" WHERE "hostId" = ${hostId} AND "watched" AND "quarantinedUntil" > clock_timestamp()
    ORDER BY "quarantinedUntil", "port", "protocol" LIMIT ${mostWatchedPorts}`
}
