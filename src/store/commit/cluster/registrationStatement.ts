import { columnsOf } from '../../rows/columns.ts'
import { assignments, byDefault, columnsFrom, insertInto, unchanged } from '../../rows/sql.ts'
import { type ClusterStatement, now, since } from './clusterStatement.ts'

const host = columnsOf('Host')
const worker = columnsOf('Worker')

// A new host will have allocation 0, and a new worker has epoch 0 so far. A worker whose name is taken over must still
// be LOST, and so must one that comes from another host, because that host could have given it replicas meanwhile. The
// former worker is renamed or forgotten before the newcomer gets its name. Each registration raises the epoch, so an
// unchanged epoch proves that no later registration was taken.
export const registration = {
  input: {
    hostId: host.id,
    hostName: host.name,
    allocation: host.allocation,
    addresses: host.addresses,
    portFrom: host.portFrom,
    portTo: host.portTo,
    reservedPorts: host.reservedPorts,
    hostCpuMillis: host.cpuMillis,
    hostMemoryMiB: host.memoryMiB,
    scheduling: host.scheduling,
    hostReachability: host.reachability,
    hostReason: host.reason,
    workerId: worker.id,
    name: worker.name,
    epoch: worker.epoch,
    reachability: worker.reachability,
    reason: worker.reason,
    cpuMillis: worker.cpuMillis,
    memoryMiB: worker.memoryMiB,
    softwareVersion: worker.softwareVersion,
    protocolVersion: worker.protocolVersion,
    subject: worker.subject,
    stateDirectoryId: worker.stateDirectoryId,
    registrationNumber: worker.registrationNumber,
    leaseSeconds: 'int',
    knownEpoch: worker.epoch,
    asideId: worker.id,
    asideName: worker.name,
    forgotten: 'text[]',
  },
  guard: `
host_lock AS MATERIALIZED (
  SELECT t."id", t."allocation" FROM "Host" t JOIN input x ON x."hostId" = t."id" FOR NO KEY UPDATE OF t),
worker_lock AS MATERIALIZED (
  SELECT t."id", t."hostId", t."epoch", t."reachability" FROM "Worker" t
  JOIN input x ON t."id" IN (x."workerId", x."asideId") OR t."id" = ANY (x."forgotten")
  WHERE (SELECT count(*) FROM host_lock) >= 0 ORDER BY t."id" FOR UPDATE OF t),
guard AS MATERIALIZED (
  SELECT 1 FROM input x LEFT JOIN host_lock h ON true LEFT JOIN worker_lock w ON w."id" = x."workerId"
  WHERE coalesce(h."allocation" + 1, 0) = x."allocation" AND coalesce(w."epoch", 0) = x."knownEpoch"
    AND NOT EXISTS (SELECT FROM worker_lock l WHERE (l."id" <> x."workerId" OR l."hostId" <> x."hostId") AND l."reachability" <> 'LOST'))`,
  writes: `
aside AS (UPDATE "Worker" t SET "name" = x."asideName" FROM input x, counter WHERE t."id" = x."asideId" RETURNING 1),
forgotten AS (DELETE FROM "Worker" t USING input x, counter WHERE t."id" = ANY (x."forgotten") RETURNING 1),
host AS (
  ${insertInto('Host', {
    id: 'x."hostId"',
    name: 'x."hostName"',
    addresses: 'x."addresses"',
    scheduling: 'x."scheduling"',
    schedulingSince: now,
    reachability: 'x."hostReachability"',
    reachabilitySince: now,
    reason: 'x."hostReason"',
    cpuMillis: 'x."hostCpuMillis"',
    memoryMiB: 'x."hostMemoryMiB"',
    usedCpuMillis: byDefault,
    usedMemoryMiB: byDefault,
    portFrom: 'x."portFrom"',
    portTo: 'x."portTo"',
    reservedPorts: 'x."reservedPorts"',
    usedPorts: byDefault,
    lastPort: byDefault,
    allocation: 'x."allocation"',
    createdAt: now,
    removedAt: byDefault,
  })}
  FROM input x, counter
  ON CONFLICT ("id") DO UPDATE SET ${assignments<'Host'>({
    id: unchanged,
    name: unchanged,
    addresses: 'excluded."addresses"',
    scheduling: 'excluded."scheduling"',
    schedulingSince: since('scheduling', 'excluded."scheduling"'),
    reachability: 'excluded."reachability"',
    reachabilitySince: since('reachability', 'excluded."reachability"'),
    reason: 'excluded."reason"',
    cpuMillis: 'excluded."cpuMillis"',
    memoryMiB: 'excluded."memoryMiB"',
    usedCpuMillis: unchanged,
    usedMemoryMiB: unchanged,
    portFrom: 'excluded."portFrom"',
    portTo: 'excluded."portTo"',
    reservedPorts: 'excluded."reservedPorts"',
    usedPorts: unchanged,
    lastPort: unchanged,
    allocation: 'excluded."allocation"',
    createdAt: unchanged,
    removedAt: 'NULL',
  })}),
worker AS (
  ${insertInto('Worker', {
    id: 'x."workerId"',
    hostId: 'x."hostId"',
    name: 'x."name"',
    epoch: 'x."epoch"',
    leaseUntil: `${now} + make_interval(secs => x."leaseSeconds")`,
    reachability: 'x."reachability"',
    reachabilitySince: now,
    reason: 'x."reason"',
    draining: 'false',
    held: 'false',
    restored: 'false',
    cpuMillis: 'x."cpuMillis"',
    memoryMiB: 'x."memoryMiB"',
    softwareVersion: 'x."softwareVersion"',
    protocolVersion: 'x."protocolVersion"',
    subject: 'x."subject"',
    stateDirectoryId: 'x."stateDirectoryId"',
    registrationNumber: 'x."registrationNumber"',
    registeredAt: now,
    lastSeenAt: now,
  })}
  FROM input x, counter WHERE (SELECT count(*) FROM aside) >= 0 AND (SELECT count(*) FROM forgotten) >= 0
  ON CONFLICT ("id") DO UPDATE SET ${assignments<'Worker'>({
    ...columnsFrom(worker, 'excluded'),
    id: unchanged,
    reachabilitySince: since('reachability', 'excluded."reachability"'),
  })}),
clean AS (DELETE FROM "HostPort" t USING input x, counter WHERE t."lostWorkerId" = x."workerId" AND x."reachability" = 'REACHABLE')`,
} satisfies ClusterStatement
