import type { Reachability } from '../../generated/prisma/enums.ts'
import type { HostId, ReplicaId, ServiceId, WorkerId } from '../../model/id.ts'
import type { ReplicaReport, Reporter, ReportIntent } from '../../model/intent.ts'
import type { Refusal } from '../../model/refusal.ts'
import { isAlive } from '../../model/replica.ts'
import type { PortOfHost, WatchedPort } from '../../model/watchedPort.ts'
import { askForAll, noteToldAll, renewLease } from '../../store/access/lease.ts'
import type { StoreOutcome } from '../../store/commit/outcome.ts'
import { readWatchedPorts } from '../../store/read/readWatchedPorts.ts'
import { ownersOf, reportsByService, servicesOn } from './replicaOwners.ts'
import { logAndGoOn, tellServicesIfPossible } from './tellServices.ts'
import type { WorkersContext } from './workersContext.ts'

/** A registration as the worker names it, and the token with which it is used. */
export interface RegistrationClaim {
  readonly workerId: WorkerId
  readonly epoch: number
  /** The token's subject; null for an admin, who may speak for any worker. */
  readonly subject: string | null
}

export type Claimed<T> = ({ readonly kind: 'done' } & T) | { readonly kind: 'refused'; readonly refusal: Refusal }

/**
 * Finds the registration that a claim names. The answer is FENCED when it is not its worker's newest one, and FORBIDDEN
 * with another worker's token.
 */
export async function findRegistration(
  parts: Pick<WorkersContext, 'database' | 'meter'>,
  claim: RegistrationClaim,
): Promise<Claimed<{ reporter: Reporter; reachability: Reachability }>> {
  const { workerId, epoch, subject } = claim
  const worker = await parts.database.prisma.worker.findUnique({
    where: { id: workerId },
    select: { hostId: true, epoch: true, subject: true, name: true, reachability: true },
  })
  if (worker === null) return fenced(parts, 'This worker is not registered')
  if (subject !== null && worker.subject !== subject) {
    const message = `Worker ${worker.name} was registered with another token: use that one.`
    return { kind: 'refused', refusal: { code: 'FORBIDDEN', message } }
  }
  if (worker.epoch !== epoch)
    return fenced(parts, `Epoch ${epoch} of worker ${worker.name} is old, it is ${worker.epoch} now`)
  return {
    kind: 'done',
    reporter: { workerId, hostId: worker.hostId as HostId, epoch },
    reachability: worker.reachability,
  }
}

function fenced(
  { meter }: Pick<WorkersContext, 'meter'>,
  what: string,
): { readonly kind: 'refused'; readonly refusal: Refusal } {
  meter.count('fenced')
  return { kind: 'refused', refusal: { code: 'FENCED', message: `${what}: stop every replica and register again.` } }
}

/**
 * Takes reports, service by service. `fenced` are replicas that no longer belong to this worker or have ended, so that
 * it must stop them. The answer is FENCED when the worker has registered again meanwhile, even during this call.
 *
 * `full` means that these are all its replicas. A silent worker is back with a full report (R15): one write makes it
 * REACHABLE, then each service with replicas there commits. A worker that was LOST is back only when it runs nothing;
 * until then everything it runs is fenced. A service that can't take its reports does not keep the others from taking
 * theirs. `portsToWatch` are all fixed ports in quarantine on the host; null where no report was about one.
 */
export async function reportReplicas(
  parts: Pick<WorkersContext, 'committer' | 'database' | 'meter' | 'log'>,
  claim: RegistrationClaim,
  sequence: number,
  reports: readonly ReplicaReport[],
  full: boolean,
): Promise<Claimed<{ fenced: readonly ReplicaId[]; portsToWatch: readonly WatchedPort[] | null }>> {
  const { committer, database } = parts
  const registration = await findRegistration(parts, claim)
  if (registration.kind === 'refused') return registration
  const { reporter, reachability } = registration
  const running = reports.filter(isAlive).map(({ replica }) => replica)
  if (reachability === 'LOST' && (running.length > 0 || !full))
    return { kind: 'done', fenced: running, portsToWatch: null }
  // What ran there ends while the worker is LOST, also when a server died before it had told every service.
  if (reachability === 'LOST') await tellServicesIfPossible(parts, [reporter.hostId])
  if (reachability !== 'REACHABLE' && full) {
    await committer.write({ kind: 'returnWorker', ...reporter })
    // Ports may still be kept for it on a host that it left.
    if (reachability === 'LOST') await tellServicesIfPossible(parts, [reporter.hostId])
  }
  const owners = await ownersOf(
    database,
    reports.map((report) => report.replica),
  )
  const services = new Map(reportsByService(reports, owners))
  if (full) for (const id of await servicesOn(database, reporter)) if (!services.has(id)) services.set(id, [])
  const taken = await Promise.allSettled(
    [...services].map(([id, own]) => submitReport(parts, id, { reporter, sequence, reports: own, full })),
  )
  let isMissed = false
  for (const outcome of taken) {
    if (outcome.status === 'fulfilled' && outcome.value.kind === 'refused' && outcome.value.refusal.code === 'FENCED')
      return outcome.value
    if (outcome.status === 'fulfilled') continue
    isMissed = true
    logAndGoOn(
      parts,
      outcome.reason,
      'A service did not take what its worker reports: the worker is asked for everything once more.',
    )
  }
  if (isMissed) await askForAll(database, reporter.workerId, reporter.epoch)
  else if (full) await noteToldAll(database, reporter.workerId, reporter.epoch)
  const foundTaken = reports.some(({ endReason }) => endReason === 'PORT_TAKEN')
  return {
    kind: 'done',
    fenced: running.filter((replica) => !owners.get(replica)?.aliveOn(reporter)),
    portsToWatch: foundTaken ? await readWatchedPorts(database, reporter.hostId) : null,
  }
}

/** Ends the quarantine of ports that the worker has seen free (R13). Returns whether that changed anything. */
export async function reportFreePorts(
  parts: Pick<WorkersContext, 'committer' | 'database' | 'meter'>,
  claim: RegistrationClaim,
  ports: readonly PortOfHost[],
): Promise<Claimed<{ changed: boolean }>> {
  const registration = await findRegistration(parts, claim)
  if (registration.kind === 'refused') return registration
  const { hostId } = registration.reporter
  const actor = claim.subject ?? 'xce'
  const outcome = await parts.committer.write({ kind: 'endQuarantine', hostId, ports, actor })
  return { kind: 'done', changed: outcome.kind === 'host' && outcome.changed }
}

/**
 * The full report of a worker that has fallen silent again (at another server, for example) is taken as a plain one;
 * the next full report returns its addresses.
 */
async function submitReport(
  { committer }: Pick<WorkersContext, 'committer'>,
  id: ServiceId,
  said: Omit<ReportIntent, 'kind'>,
): Promise<StoreOutcome> {
  const outcome = await committer.submit(id, { kind: 'report', ...said })
  if (outcome.kind !== 'refused' || outcome.refusal.code !== 'INVALID_STATE') return outcome
  return committer.submit(id, { kind: 'report', ...said, full: false })
}

/**
 * Renews a worker's lease on the database's clock, which is not a fact. `resync` means that the worker was silent and
 * is back once it has reported everything.
 */
export async function keepLease(
  parts: Pick<WorkersContext, 'database' | 'config' | 'meter'>,
  claim: RegistrationClaim,
): Promise<Claimed<{ resync: boolean }>> {
  const { database, config, meter } = parts
  const registration = await findRegistration(parts, claim)
  if (registration.kind === 'refused') return registration
  const renewed = await renewLease(database, claim.workerId, claim.epoch, config.leaseSeconds)
  if (renewed === null) return fenced(parts, `Epoch ${claim.epoch} is old`)
  meter.observe('leaseLeftSeconds', renewed.leftSeconds)
  return { kind: 'done', resync: renewed.resync }
}
