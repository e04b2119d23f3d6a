import type { HostId, ReplicaId, WorkerId } from '../../model/id.ts'
import type { ReplicaReport, Reporter } from '../../model/intent.ts'
import type { Refusal } from '../../model/refusal.ts'
import { isAlive } from '../../model/replica.ts'
import type { HostView } from '../../model/service.ts'
import type { WatchedPort } from '../../model/watchedPort.ts'
import type { Identifying } from '../../rules/hosts/registration.ts'
import { askForAll } from '../../store/access/lease.ts'
import { readIdentity } from '../../store/commit/cluster/workerIdentity.ts'
import type { RegisterWorker } from '../../store/commit/outcome.ts'
import { readAdopters } from '../../store/read/readAdopters.ts'
import { readWatchedPorts } from '../../store/read/readWatchedPorts.ts'
import { ownersOf, reportsByService } from './replicaOwners.ts'
import { logAndGoOn, tellServicesIfPossible } from './tellServices.ts'
import type { WorkersContext } from './workersContext.ts'

export interface Registered {
  readonly kind: 'registered'
  readonly workerId: WorkerId
  readonly hostId: HostId
  readonly epoch: number
  /** Replicas that run there and should not: they belong to another worker or have ended. */
  readonly stop: readonly ReplicaId[]
  /** The fixed ports of its host that are in quarantine (R13). */
  readonly portsToWatch: readonly WatchedPort[]
}

type Parts = Pick<WorkersContext, 'committer' | 'database' | 'log'>

/**
 * Registers a worker that (re)starts (R15). It gets a new epoch, which fences everything it reported before. Then each
 * service that has replicas on it, or of which it still runs replicas, adopts them in a commit of its own. A service
 * that can't be told does not keep the worker out: the worker is asked for everything once more, and whoever looks at
 * the host next tells the service.
 */
export async function registerWorker(
  parts: Parts,
  worker: Omit<RegisterWorker, 'kind' | 'clean'>,
  running: readonly ReplicaReport[],
): Promise<Registered | { readonly kind: 'refused'; readonly refusal: Refusal }> {
  await leaveOtherHost(parts, worker)
  const alive = running.filter(isAlive).map(({ replica }) => replica)
  const outcome = await parts.committer.write({ ...worker, kind: 'registerWorker', clean: alive.length === 0 })
  if (outcome.kind === 'refused') return outcome
  if (outcome.kind !== 'worker') throw new Error(`A registration was answered with ${outcome.kind}.`)
  const { workerId, hostId, epoch } = outcome
  const reporter: Reporter = { workerId, hostId, epoch }
  if (outcome.returned) await adoptAll(parts, reporter, running)
  // An earlier drain is over, ports may have been kept for the worker elsewhere, and this registration or another
  // worker's may have changed the host's addresses.
  await tellServicesIfPossible(parts, [hostId])
  // The worker was lost and stays so until it has stopped what was replaced meanwhile; a full report without those
  // replicas proves it.
  const portsToWatch = await readWatchedPorts(parts.database, hostId)
  if (!outcome.returned) return { kind: 'registered', workerId, hostId, epoch, stop: alive, portsToWatch }
  const owners = await ownersOf(parts.database, alive)
  return {
    kind: 'registered',
    workerId,
    hostId,
    epoch,
    stop: alive.filter((replica) => !owners.get(replica)?.aliveOn(reporter)),
    portsToWatch,
  }
}

async function adoptAll(parts: Parts, reporter: Reporter, running: readonly ReplicaReport[]): Promise<void> {
  const { hostId, workerId, epoch } = reporter
  const said = running.map((report) => report.replica)
  const reports = reportsByService(running, await ownersOf(parts.database, said))
  const host = await viewOf(parts, hostId)
  const services = new Set([...reports.keys(), ...(await readAdopters(parts.database, reporter))])
  const adopted = await Promise.allSettled(
    [...services].map((id) =>
      parts.committer.submit(id, { kind: 'adopt', reporter, host, running: reports.get(id) ?? [] }),
    ),
  )
  for (const adoption of adopted) {
    if (adoption.status === 'fulfilled') continue
    logAndGoOn(
      parts,
      adoption.reason,
      'A service did not hear that its worker has registered: the worker is asked for everything once more.',
    )
    await askForAll(parts.database, workerId, epoch)
  }
}

async function viewOf({ database }: Parts, hostId: HostId): Promise<HostView> {
  const { name, addresses } = await database.prisma.host.findUniqueOrThrow({
    where: { id: hostId },
    select: { name: true, addresses: true },
  })
  return { id: hostId, name, addresses }
}

/**
 * Ends what the worker ran on its previous host: it is told to stop that and gets nothing on the new host before it
 * has. If it is already lost there, its services are told of the loss first. A refused registration leaves its previous
 * host as it was.
 */
async function leaveOtherHost(parts: Parts, worker: Identifying): Promise<void> {
  const who = await readIdentity(parts.database, worker)
  if (who.kind === 'refused' || who.known === null || who.known.host === worker.host) return
  const { known } = who
  const hostId = known.hostId as HostId
  await parts.committer.write({
    kind: 'leaveHost',
    hostId,
    workerId: known.id as WorkerId,
    epoch: known.epoch,
    to: worker.host,
  })
  await tellServicesIfPossible(parts, [hostId])
}
