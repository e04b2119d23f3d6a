import type { Blocker } from '../../model/blocker.ts'
import type { Reporter } from '../../model/intent.ts'
import type { ServerContext } from '../serverContext.ts'
import { tellServicesIfPossible } from './tellServices.ts'
import { type Claimed, findRegistration, type RegistrationClaim } from './workerReports.ts'

/** A service as its users name it. */
export interface NamedService {
  readonly project: string
  readonly name: string
}

/** How far a service is that loses replicas to a drain. */
export interface DrainedService extends NamedService {
  readonly desiredReplicas: number
  readonly readyReplicas: number
  /** What it waits for, as sentences. */
  readonly blockers: readonly string[]
}

export interface DrainState {
  /** The worker is being drained, by itself or with its host. */
  readonly isDraining: boolean
  /** Replicas on the worker that have not ended. */
  readonly replicas: number
  /** Of the services that were asked about, those that there are; in the order of their names. */
  readonly services: readonly DrainedService[]
}

type Parts = Pick<ServerContext, 'committer' | 'database' | 'meter' | 'log'>

/** A worker is to end and moves its replicas first (R15). That it is being drained already is as good. */
export async function beginDrain(parts: Parts, claim: RegistrationClaim): Promise<Claimed<{ reporter: Reporter }>> {
  const registration = await findRegistration(parts, claim)
  if (registration.kind === 'refused') return registration
  const { reporter } = registration
  const outcome = await parts.committer.write({ kind: 'drainWorker', ...reporter, actor: claim.subject ?? 'admin' })
  if (outcome.kind === 'refused') return outcome
  await tellServicesIfPossible(parts, [reporter.hostId])
  return { kind: 'done', reporter }
}

/** How far the drain of a worker is, and the services that it asks about. */
export async function readDrain(
  parts: Pick<ServerContext, 'database' | 'meter'>,
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
      where: { workerId, hostId: { not: null }, state: { in: ['PENDING', 'STARTING', 'RUNNING', 'STOPPING'] } },
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
    blockers: (blockers as unknown as Blocker[]).map(({ message }) => message),
  }))
  return { kind: 'done', isDraining: draining || host.scheduling === 'DRAINING', replicas, services: drained }
}
