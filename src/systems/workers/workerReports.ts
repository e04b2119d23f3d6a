import type { Reachability } from '../../generated/prisma/enums.ts'
import type { HostId, ReplicaId, ServiceId, WorkerId } from '../../model/id.ts'
import type { ReplicaReport, Reporter, ReportIntent } from '../../model/intent.ts'
import type { Refusal } from '../../model/refusal.ts'
import { askForAll, noteToldAll, renewLease } from '../../store/access/lease.ts'
import type { StoreOutcome } from '../../store/commit/outcome.ts'
import type { ServerContext } from '../serverContext.ts'
import { ownersOf, reportsByService, servicesOn } from './replicaOwners.ts'
import { logAndGoOn, tellServicesIfPossible } from './tellServices.ts'

/** A registration as its worker names it, and the token that it is used with. */
export interface RegistrationClaim {
  readonly workerId: WorkerId
  readonly epoch: number
  /** The token's subject; null: an admin, who may speak for any worker. */
  readonly subject: string | null
}

export type Claimed<T> = ({ readonly kind: 'done' } & T) | { readonly kind: 'refused'; readonly refusal: Refusal }

/** The registration that a claim names. FENCED where it is not the newest of its worker; FORBIDDEN with another's token. */
export async function findRegistration(
  parts: Pick<ServerContext, 'database' | 'meter'>,
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
  { meter }: Pick<ServerContext, 'meter'>,
  what: string,
): { readonly kind: 'refused'; readonly refusal: Refusal } {
  meter.count('fenced')
  return { kind: 'refused', refusal: { code: 'FENCED', message: `${what}: stop every replica and register anew.` } }
}

/**
 * Takes reports, service by service. `fenced`: replicas that are not this worker's any more, or have ended, and must be stopped. FENCED where
 * the worker has registered anew meanwhile, even during this.
 *
 * `full`: these are all. A worker that was silent is back with them (R15): REACHABLE in one write, and then in the commit of each service that has
 * replicas there. One that was LOST is back when it runs nothing; until then everything that it runs is fenced. A service that can't take its reports
 * keeps none of the others from it.
 */
export async function reportReplicas(
  parts: Pick<ServerContext, 'committer' | 'database' | 'meter' | 'log'>,
  claim: RegistrationClaim,
  sequence: number,
  reports: readonly ReplicaReport[],
  full: boolean,
): Promise<Claimed<{ fenced: readonly ReplicaId[] }>> {
  const { committer, database } = parts
  const registration = await findRegistration(parts, claim)
  if (registration.kind === 'refused') return registration
  const { reporter, reachability } = registration
  const running = reports.flatMap(({ replica, state }) => (state === 'ENDED' ? [] : [replica]))
  if (reachability === 'LOST' && (running.length > 0 || !full)) return { kind: 'done', fenced: running }
  // What was there ends while the worker is LOST, also where a server died before it had told every service.
  if (reachability === 'LOST') await tellServicesIfPossible(parts, [reporter.hostId])
  if (reachability !== 'REACHABLE' && full) {
    await committer.write({ kind: 'returnWorker', ...reporter })
    // Ports may be kept for it on a host that it left.
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
  return { kind: 'done', fenced: running.filter((replica) => !owners.get(replica)?.aliveOn(reporter)) }
}

/** A full report of a worker that is silent again (by another server, say) is a plain one: addresses return with the next. */
async function submitReport(
  { committer }: Pick<ServerContext, 'committer'>,
  id: ServiceId,
  said: Omit<ReportIntent, 'kind'>,
): Promise<StoreOutcome> {
  const outcome = await committer.submit(id, { kind: 'report', ...said })
  if (outcome.kind !== 'refused' || outcome.refusal.code !== 'INVALID_STATE') return outcome
  return committer.submit(id, { kind: 'report', ...said, full: false })
}

/** Prolongs a worker's lease on the database's clock. That is no fact. `resync`: it was silent and is back when it has reported everything. */
export async function keepLease(
  parts: Pick<ServerContext, 'database' | 'config' | 'meter'>,
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
