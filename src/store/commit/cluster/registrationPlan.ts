import type { Host, Worker } from '../../../generated/prisma/client.ts'
import type { HostId, WorkerId } from '../../../model/id.ts'
import { decideRegistration, type RegistrationDecision } from '../../../rules/hosts/registration.ts'
import { whereAlive } from '../../database/aliveReplica.ts'
import type { Database } from '../../database/database.ts'
import type { RegisterWorker } from '../outcome.ts'
import { type ClusterWritePlan, factOfHost, refused } from './clusterFacts.ts'
import type { ClusterRow } from './clusterWriteStatement.ts'
import { readKeptElsewhere, readKeptFor } from './keptPorts.ts'
import { countReplicasLeft } from './replicasLeft.ts'
import { type KnownWorker, readIdentity } from './workerIdentity.ts'

type HostRow = Host & { readonly workers: readonly Worker[] }
type Registered = Extract<RegistrationDecision, { readonly kind: 'registered' }>

/**
 * Reads the workers that are there already, lets the rules decide how the worker registers (R15), and says how that is
 * written.
 */
export async function planRegistration(
  database: Database,
  change: RegisterWorker,
  newId: () => string,
): Promise<ClusterWritePlan> {
  const { prisma } = database
  const host = await prisma.host.findUnique({
    where: { name: change.host },
    include: { workers: { orderBy: { name: 'asc' } } },
  })
  const who = await readIdentity(database, change)
  if (who.kind === 'refused') return refused(who.refusal)
  const { known, replaced } = who
  const hostId = (host?.id ?? newId()) as HostId
  const workerId = (known?.id ?? newId()) as WorkerId
  const { _max } = await prisma.replica.aggregate({
    where: { workerId, ...whereAlive },
    _max: { reportedEpoch: true },
  })
  const hasReplicasElsewhere =
    known !== null && known.hostId !== hostId && (await countReplicasLeft(database, { workerId })) > 0
  // They are read after its replicas, because the ports of a replica that ends are then kept.
  const keptElsewhere = known === null ? [] : await readKeptElsewhere(database, { workerId, hostId })
  const decision = decideRegistration({
    worker: change,
    known,
    replaced,
    hasReplicasElsewhere,
    reportedEpoch: _max.reportedEpoch ?? 0,
    host: host && {
      scheduling: host.scheduling,
      isRemoved: host.removedAt !== null,
      workers: host.workers.map((worker) => ({ ...worker, host: host.name })),
    },
    isEmpty: host?.scheduling === 'DRAINING' && (await countReplicasLeft(database, { hostId })) === 0,
    keptFor: await readKeptFor(
      database,
      [...(host?.workers ?? []), ...(replaced ? [replaced] : [])].filter(({ id }) => id !== workerId),
    ),
    keptElsewhere: keptElsewhere.map((kept) => kept.name),
  })
  if (decision.kind === 'refused') return refused(decision.refusal)
  const { epoch, message, reachability } = decision
  const fact = factOfHost(hostId, message, change.subject, { workerId, wakesPlacement: true })
  const hosts = [
    ...keptElsewhere,
    ...[known, replaced].flatMap((worker) => (worker ? [{ id: worker.hostId, name: worker.host }] : [])),
  ]
  const factsElsewhere = decision.elsewhere.flatMap((news) => {
    const id = hosts.find(({ name }) => name === news.host)?.id as HostId | undefined
    return id === undefined ? [] : [factOfHost(id, news.message, change.subject, { wakesPlacement: true })]
  })
  return {
    write: { table: 'worker', row: rowOf(change, { hostId, workerId, host, known }, decision), fact, factsElsewhere },
    outcome: { kind: 'worker', workerId, hostId, epoch, returned: reachability === 'REACHABLE' },
  }
}

interface Rows {
  readonly hostId: HostId
  readonly workerId: WorkerId
  readonly host: HostRow | null
  readonly known: KnownWorker | null
}

function rowOf(
  change: RegisterWorker,
  { hostId, workerId, host, known }: Rows,
  decided: Registered,
): ClusterRow<'worker'> {
  const { name, addresses, cpuMillis, memoryMiB, portRange, reservedPorts, softwareVersion, protocolVersion, subject } =
    change
  const { epoch, reachability, reason, forgotten, aside } = decided
  const own = { addresses, reservedPorts, portFrom: portRange.from, portTo: portRange.to }
  const told = host === null || decided.speaksForHost ? own : host
  return {
    hostId,
    hostName: change.host,
    scheduling: decided.host.scheduling,
    hostReachability: decided.host.reachability,
    hostReason: decided.host.reason,
    hostCpuMillis: decided.host.cpuMillis,
    hostMemoryMiB: decided.host.memoryMiB,
    allocation: host ? host.allocation + 1 : 0,
    addresses: told.addresses,
    portFrom: told.portFrom,
    portTo: told.portTo,
    reservedPorts: told.reservedPorts,
    workerId,
    asideId: aside?.id ?? null,
    asideName: aside?.name ?? null,
    name,
    reachability,
    reason,
    knownEpoch: known?.epoch ?? 0,
    epoch,
    stateDirectoryId: change.stateDirectoryId,
    registrationNumber: change.registrationNumber,
    leaseSeconds: change.leaseSeconds,
    cpuMillis,
    memoryMiB,
    softwareVersion,
    protocolVersion,
    subject,
    forgotten,
  }
}
