import type { HostId, ReplicaId, WorkerId } from '../model/id.ts'
import type { ReplicaReport, Reporter } from '../model/intent.ts'
import type { Refusal } from '../model/refusal.ts'
import type { Database } from '../store/database.ts'
import { renewLease } from '../store/lease.ts'
import type { App } from './app.ts'
import { ownersOf, reportsByService } from './replicaOwners.ts'

/** A registration as its worker names it, and the token that it is used with. */
export interface RegistrationClaim {
  readonly workerId: WorkerId
  readonly epoch: number
  /** The token's subject; null: an admin, who may speak for any worker. */
  readonly subject: string | null
}

export type Claimed<T> = ({ readonly kind: 'done' } & T) | { readonly kind: 'refused'; readonly refusal: Refusal }

/** The registration that a claim names. FENCED where it is not the newest of its worker; FORBIDDEN with another's token. */
export async function findRegistration(database: Database, claim: RegistrationClaim): Promise<Claimed<{ reporter: Reporter }>> {
  const { workerId, epoch, subject } = claim
  const worker = await database.prisma.worker.findUnique({
    where: { id: workerId },
    select: { hostId: true, epoch: true, subject: true, name: true },
  })
  if (worker === null) return { kind: 'refused', refusal: fenced('This worker is not registered') }
  if (subject !== null && worker.subject !== subject) {
    const message = `Worker ${worker.name} was registered with another token: use that one.`
    return { kind: 'refused', refusal: { code: 'FORBIDDEN', message } }
  }
  if (worker.epoch !== epoch)
    return { kind: 'refused', refusal: fenced(`Epoch ${epoch} of worker ${worker.name} is old, it is ${worker.epoch} now`) }
  return { kind: 'done', reporter: { workerId, hostId: worker.hostId as HostId, epoch } }
}

function fenced(what: string): Refusal {
  return { code: 'FENCED', message: `${what}: stop every replica and register anew.` }
}

/**
 * Takes reports, service by service. `fenced`: replicas that are not this host's any more, or have ended, and must be stopped. FENCED where
 * the worker has registered anew meanwhile, even during this.
 */
export async function reportReplicas(
  { committer, database }: Pick<App, 'committer' | 'database'>,
  claim: RegistrationClaim,
  sequence: number,
  reports: readonly ReplicaReport[],
): Promise<Claimed<{ fenced: readonly ReplicaId[] }>> {
  const registration = await findRegistration(database, claim)
  if (registration.kind === 'refused') return registration
  const { reporter } = registration
  const owners = await ownersOf(
    database,
    reports.map((report) => report.replica),
  )
  const services = reportsByService(reports, owners)
  const outcomes = await Promise.all(
    [...services].map(([id, own]) => committer.submit(id, { kind: 'report', reporter, sequence, reports: own })),
  )
  for (const outcome of outcomes) if (outcome.kind === 'refused' && outcome.refusal.code === 'FENCED') return outcome
  const strangers = reports.filter(({ replica, state }) => state !== 'ENDED' && !owners.get(replica)?.aliveOn(reporter.hostId))
  return { kind: 'done', fenced: strangers.map((report) => report.replica) }
}

/** Prolongs a worker's lease on the database's clock. That is no fact. */
export async function keepLease(
  { database, config }: Pick<App, 'database' | 'config'>,
  claim: RegistrationClaim,
): Promise<Claimed<{ resync: boolean }>> {
  const registration = await findRegistration(database, claim)
  if (registration.kind === 'refused') return registration
  const renewed = await renewLease(database, claim.workerId, claim.epoch, config.leaseSeconds)
  return renewed ? { kind: 'done', resync: false } : { kind: 'refused', refusal: fenced(`Epoch ${claim.epoch} is old`) }
}
