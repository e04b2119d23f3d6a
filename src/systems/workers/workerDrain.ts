import type { Reporter } from '../../model/intent.ts'
import { whereAlive } from '../../store/database/aliveReplica.ts'
import { tellServicesIfPossible } from './tellServices.ts'
import { type Claimed, findRegistration, type RegistrationClaim } from './workerReports.ts'
import type { WorkersContext } from './workersContext.ts'

/** A service by the names that its users give it. */
export interface NamedService {
  readonly project: string
  readonly name: string
}

/** How far the drain is for a service that loses replicas to it. */
export interface DrainedService extends NamedService {
  readonly desiredReplicas: number
  readonly readyReplicas: number
  /** What the service waits for, as sentences. */
  readonly blockers: readonly string[]
}

export interface DrainState {
  /** Whether the worker is being drained, by its own request or with its host. */
  readonly draining: boolean
  /** The number of alive replicas on the worker. */
  readonly replicas: number
  /** Those of the requested services that exist, ordered by name. */
  readonly services: readonly DrainedService[]
}

type Parts = Pick<WorkersContext, 'committer' | 'database' | 'meter' | 'log'>

/**
 * Starts a drain: the worker is to end and moves its replicas first (R15). A worker that is being drained already is
 * accepted too.
 */
export async function beginDrain(parts: Parts, claim: RegistrationClaim): Promise<Claimed<{ reporter: Reporter }>> {
  const registration = await findRegistration(parts, claim)
  if (registration.kind === 'refused') return registration
  const { reporter } = registration
  const outcome = await parts.committer.write({ kind: 'drainWorker', ...reporter, actor: claim.subject ?? 'admin' })
  if (outcome.kind === 'refused') return outcome
  await tellServicesIfPossible(parts, [reporter.hostId])
  return { kind: 'done', reporter }
}

/**
 * The worker ends, and nothing of it runs any more: its host is not asked to wait for its lease and grace, and replicas that
 * it could not report any more are replaced at once.
 */
export async function endWorker(parts: Parts, claim: RegistrationClaim): Promise<Claimed<{ reporter: Reporter }>> {
  const registration = await findRegistration(parts, claim)
  if (registration.kind === 'refused') return registration
  const { reporter } = registration
  const outcome = await parts.committer.write({ kind: 'endWorker', ...reporter })
  if (outcome.kind === 'refused') return outcome
  await tellServicesIfPossible(parts, [reporter.hostId])
  return { kind: 'done', reporter }
}

/** Reads how far the drain of a worker and of the requested services is. */
export async function readDrain(
  parts: Pick<WorkersContext, 'database' | 'meter'>,
  claim: RegistrationClaim,
  services: readonly NamedService[],
): Promise<Claimed<DrainState>> {
  const registration = await findRegistration(parts, claim)
  if (registration.kind === 'refused') return registration
  const { prisma } = parts.database
  const { workerId } = registration.reporter
  const [{ draining, host }, replicas, rows] = await Promise.all([
    prisma.worker.findUniqueOrThrow({
      where: { id: workerId },
      select: { draining: true, host: { select: { scheduling: true } } },
    }),
    prisma.replica.count({
      where: { workerId, hostId: { not: null }, ...whereAlive },
    }),
    prisma.service.findMany({
      where: {
        OR: services.map(({ project, name }) => ({ heldName: name, project: { name: project } })),
        deletionRequestedAt: null,
      },
      select: {
        name: true,
        project: { select: { name: true } },
        desiredReplicas: true,
        readyReplicas: true,
        blockers: true,
      },
      orderBy: [{ project: { name: 'asc' } }, { name: 'asc' }],
    }),
  ])
  const drained = rows.map(({ name, project, desiredReplicas, readyReplicas, blockers }) => ({
    name,
    project: project.name,
    desiredReplicas,
    readyReplicas,
    blockers: blockers.map(({ message }) => message),
  }))
  return { kind: 'done', draining: draining || host.scheduling === 'DRAINING', replicas, services: drained }
}
