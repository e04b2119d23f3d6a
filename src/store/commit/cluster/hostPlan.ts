import type { Host, Worker } from '../../../generated/prisma/client.ts'
import type { HostId, WorkerId } from '../../../model/id.ts'
import { notFound } from '../../../rules/hosts/hostByOperator.ts'
import { decideHost, looksAt } from '../../../rules/hosts/hostDecision.ts'
import { portsBackMessage } from '../../../rules/hosts/hostState.ts'
import type { HostTransition, ReplicasLeft } from '../../../rules/hosts/hostTransition.ts'
import type { Database } from '../../database/database.ts'
import { readFreeable } from '../../read/readFreeable.ts'
import type { HostWrite, JudgeWorker } from '../outcome.ts'
import { type ClusterWritePlan, factOfHost, refused } from './clusterFacts.ts'
import type { ClusterFact, ClusterRow } from './clusterWriteStatement.ts'
import { readKeptElsewhere } from './keptPorts.ts'
import { countReplicasLeft } from './replicasLeft.ts'

type HostRow = Host & { readonly workers: readonly Worker[] }

/** Reads the host, lets the rules decide what becomes of it (R15), and says how that is written. */
export async function planHost(database: Database, change: HostWrite): Promise<ClusterWritePlan> {
  const host = await readHost(database, change)
  if (host === null) return 'hostId' in change ? unchanged(change.hostId) : refused(notFound(change))
  const hostId = host.id as HostId
  const decision = decideHost(host, change, await readLeft(database, host, change))
  if (decision.kind === 'refused') return refused(decision.refusal)
  if (decision.kind === 'unchanged' || !(await stands(database, host, change))) return unchanged(hostId)
  const { next, message } = decision
  const actor = decision.actor ?? workerOf(host, change)?.subject ?? 'xce'
  return {
    write: {
      table: 'host',
      row: rowOf(host, change, next),
      fact: factOfHost(hostId, message, actor, { wakesPlacement: next.wakesPlacement }),
      factsElsewhere: await portsBackElsewhere(database, hostId, next, actor),
    },
    outcome: { kind: 'host', hostId, changed: true },
  }
}

/** It covers other hosts too, because no host keeps ports for a worker that is clean or removed. */
async function portsBackElsewhere(
  database: Database,
  hostId: HostId,
  { workers }: HostTransition,
  actor: string,
): Promise<readonly ClusterFact[]> {
  const kept = new Map<HostId, string>()
  for (const { id, clean, removes } of workers)
    if (clean || removes)
      for (const host of await readKeptElsewhere(database, { workerId: id as WorkerId, hostId }))
        kept.set(host.id, host.name)
  return [...kept].map(([id, name]) => factOfHost(id, portsBackMessage(name), actor, { wakesPlacement: true }))
}

function rowOf(host: HostRow, change: HostWrite, next: HostTransition): ClusterRow<'host'> {
  const { scheduling, reachability, reason, cpuMillis, memoryMiB, removes, workers } = next
  const judged = change.kind === 'judgeWorker' ? change : null
  return {
    hostId: host.id,
    allocation: host.allocation + 1,
    scheduling,
    reachability,
    reason,
    cpuMillis,
    memoryMiB,
    removes,
    workers,
    workerId: 'workerId' in change ? change.workerId : null,
    epoch: 'epoch' in change ? change.epoch : null,
    serverId: judged?.serverId ?? null,
    heartbeatSeconds: judged?.heartbeatSeconds ?? null,
    leaseUntil: judged && new Date(judged.leaseUntil).toISOString(),
  }
}

/** Finds a host that is not removed. */
async function readHost({ prisma }: Database, change: HostWrite): Promise<HostRow | null> {
  const find = (where: { readonly id: string } | { readonly name: string }) =>
    prisma.host.findFirst({ where: { ...where, removedAt: null }, include: { workers: { orderBy: { name: 'asc' } } } })
  if ('hostId' in change) return find({ id: change.hostId })
  if (change.kind !== 'removeWorker') return find({ name: change.name })
  const worker = await prisma.worker.findUnique({ where: { name: change.name }, select: { hostId: true } })
  return worker && find({ id: worker.hostId })
}

/** They are read after the host, whose row is the guard, because from then on they only become fewer. */
async function readLeft(database: Database, host: HostRow, change: HostWrite): Promise<ReplicasLeft> {
  const { onHost, onWorker } = looksAt(host, change)
  const worker = onWorker && host.workers.find((other) => 'name' in change && other.name === change.name)
  return {
    onHost: onHost ? await countReplicasLeft(database, { hostId: host.id }) : 0,
    onWorker: worker ? await countReplicasLeft(database, { workerId: worker.id }) : 0,
  }
}

/**
 * Says whether everything still holds that the change rests on beside the host: the lease as a healthy server judged
 * it, the worker's epoch, and the ports to free.
 */
async function stands(database: Database, host: HostRow, change: HostWrite): Promise<boolean> {
  switch (change.kind) {
    case 'judgeWorker':
      return workerOf(host, change)?.leaseUntil.getTime() === change.leaseUntil && (await isWell(database, change))
    case 'returnWorker':
    case 'drainWorker':
    case 'endWorker':
    case 'leaveHost':
      return workerOf(host, change)?.epoch === change.epoch
    case 'freePorts':
      return (await readFreeable(database)).includes(change.hostId)
    default:
      return true
  }
}

function workerOf(host: HostRow, change: HostWrite): Worker | undefined {
  return host.workers.find(({ id }) => 'workerId' in change && id === change.workerId)
}

async function isWell({ prisma }: Database, { serverId, heartbeatSeconds }: JudgeWorker): Promise<boolean> {
  const [row] = await prisma.$queryRaw<{ well: boolean }[]>`
    SELECT "heartbeatAt" > clock_timestamp() - make_interval(secs => ${heartbeatSeconds}::float8) AS well FROM "Server" WHERE "id" = ${serverId}`
  return row?.well === true
}

function unchanged(hostId: HostId): ClusterWritePlan {
  return { write: null, outcome: { kind: 'host', hostId, changed: false } }
}
