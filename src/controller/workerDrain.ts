import type { HostScheduling } from '../generated/prisma/enums.ts'
import type { Blocker } from '../model/blocker.ts'
import type { Reporter } from '../model/intent.ts'
import type { App } from './app.ts'
import { settleHosts } from './settleHosts.ts'
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
  readonly scheduling: HostScheduling
  /** Replicas on the host that have not ended. */
  readonly replicas: number
  /** Of the services that were asked about, those that there are; in the order of their names. */
  readonly services: readonly DrainedService[]
}

type Parts = Pick<App, 'committer' | 'database' | 'meter'>

/** A worker drains its own host (R15). That it is being drained already is as good. */
export async function drainOwnHost(parts: Parts, claim: RegistrationClaim): Promise<Claimed<{ reporter: Reporter }>> {
  const registration = await findRegistration(parts, claim)
  if (registration.kind === 'refused') return registration
  const { reporter } = registration
  const { name } = await parts.database.prisma.host.findUniqueOrThrow({ where: { id: reporter.hostId }, select: { name: true } })
  const actor = claim.subject ?? 'admin'
  const outcome = await parts.committer.write({ kind: 'scheduleHost', name, scheduling: 'DRAINING', actor })
  if (outcome.kind === 'refused' && outcome.refusal.code !== 'NO_CHANGE') return outcome
  await settleHosts(parts, [reporter.hostId])
  return { kind: 'done', reporter }
}

/** How far the drain of a worker's own host is, and the services that it asks about. */
export async function readDrain(
  parts: Pick<App, 'database' | 'meter'>,
  claim: RegistrationClaim,
  services: readonly NamedService[],
): Promise<Claimed<DrainState>> {
  const registration = await findRegistration(parts, claim)
  if (registration.kind === 'refused') return registration
  const { prisma } = parts.database
  const { hostId } = registration.reporter
  const [{ scheduling }, replicas, rows] = await Promise.all([
    prisma.host.findUniqueOrThrow({ where: { id: hostId }, select: { scheduling: true } }),
    prisma.replica.count({ where: { hostId, state: { in: ['PENDING', 'STARTING', 'RUNNING', 'STOPPING'] } } }),
    prisma.service.findMany({
      where: { OR: services.map(({ project, name }) => ({ heldName: name, project: { name: project } })), deletionRequestedAt: null },
      select: { name: true, project: { select: { name: true } }, desiredReplicas: true, readyReplicas: true, blockers: true },
      orderBy: [{ project: { name: 'asc' } }, { name: 'asc' }],
    }),
  ])
  const drained = rows.map(({ name, project, desiredReplicas, readyReplicas, blockers }) => ({
    ...{ name, project: project.name, desiredReplicas, readyReplicas },
    blockers: (blockers as unknown as Blocker[]).map(({ message }) => message),
  }))
  return { kind: 'done', scheduling, replicas, services: drained }
}
