import { isDeepStrictEqual } from 'node:util'
import { leaseSeconds } from '../../model/bounds.ts'
import type { Content } from '../../model/content.ts'
import type { HostId, ProfileId, ProfileRevisionId, ProjectId, QueueId, WorkerId } from '../../model/id.ts'
import { sameContent } from '../../rules/content.ts'
import { heldBy } from '../../rules/hostHolder.ts'
import type { Database } from '../database.ts'
import type { CatalogueWrite } from './catalogueStatement.ts'
import { planHost, schedulingReason, uncleanReason } from './hostPlan.ts'
import type { CatalogueChange, CatalogueOutcome, RegisterWorker } from './outcome.ts'

/** What to write, and the answer once it is written. `write` null: it says what is so already. */
export interface CataloguePlan {
  readonly write: CatalogueWrite | null
  readonly outcome: CatalogueOutcome
}

type NewId = () => string
type ApplyProfile = Extract<CatalogueChange, { kind: 'applyProfile' }>
type ApplyProject = Extract<CatalogueChange, { kind: 'applyProject' }>
type ApplyQueue = Extract<CatalogueChange, { kind: 'applyQueue' }>

/** Reads what the change is about and decides on it. The write's guard finds out whether that still holds. */
export function planCatalogue(database: Database, change: CatalogueChange, newId: NewId): Promise<CataloguePlan> {
  switch (change.kind) {
    case 'applyProfile':
      return planProfile(database, change, newId)
    case 'applyProject':
      return planProject(database, change, newId)
    case 'applyQueue':
      return planQueue(database, change, newId)
    case 'registerWorker':
      return planWorker(database, change, newId)
    default:
      return planHost(database, change)
  }
}

async function planProfile({ prisma }: Database, change: ApplyProfile, newId: NewId): Promise<CataloguePlan> {
  const { name, content, settings, actor } = change
  const known = await prisma.profile.findUnique({ where: { name } })
  const newest =
    known &&
    (await prisma.profileRevision.findUniqueOrThrow({
      where: { profileId_revision: { profileId: known.id, revision: known.currentRevision } },
    }))
  const profileId = (known?.id ?? newId()) as ProfileId
  if (newest && sameContent(newest.content as unknown as Content, content) && isDeepStrictEqual(newest.settings, settings)) {
    return { write: null, outcome: { kind: 'profile', profileId, profileRevisionId: newest.id as ProfileRevisionId, created: false } }
  }
  const profileRevisionId = newId() as ProfileRevisionId
  const revision = (known?.currentRevision ?? 0) + 1
  const message = `${actor} applied profile ${name}: it has revision ${revision}.`
  return {
    write: {
      table: 'profile',
      row: { id: profileId, name, isNew: known === null, revision, revisionId: profileRevisionId, content, settings, actor },
      fact: {
        kind: 'profile',
        hostId: null,
        data: { format: 1, profileId, wakesPlacement: false },
        event: said('PROFILE', message, actor),
      },
    },
    outcome: { kind: 'profile', profileId, profileRevisionId, created: true },
  }
}

async function planProject({ prisma }: Database, change: ApplyProject, newId: NewId): Promise<CataloguePlan> {
  const { name, maxReplicas, actor } = change
  const known = await prisma.project.findUnique({ where: { name } })
  const projectId = (known?.id ?? newId()) as ProjectId
  if (known && known.maxReplicas === maxReplicas) return { write: null, outcome: { kind: 'project', projectId, changed: false } }
  const limit = maxReplicas === null ? 'no limit of replicas' : `a limit of ${maxReplicas} replicas`
  const message = known ? `${actor} gave project ${name} ${limit}.` : `${actor} created project ${name} with ${limit}.`
  return {
    write: {
      table: 'project',
      row: { id: projectId, name, isNew: known === null, maxReplicas },
      fact: { kind: 'project', hostId: null, data: { format: 1, projectId, wakesPlacement: true }, event: said('PROJECT', message, actor) },
    },
    outcome: { kind: 'project', projectId, changed: true },
  }
}

async function planQueue({ prisma }: Database, change: ApplyQueue, newId: NewId): Promise<CataloguePlan> {
  const { name, priority, actor } = change
  const known = await prisma.queue.findUnique({ where: { name } })
  const queueId = (known?.id ?? newId()) as QueueId
  if (known && known.priority === priority) return { write: null, outcome: { kind: 'queue', queueId, changed: false } }
  const message = known ? `${actor} gave queue ${name} priority ${priority}.` : `${actor} created queue ${name} with priority ${priority}.`
  return {
    write: {
      table: 'queue',
      row: { id: queueId, name, isNew: known === null, priority },
      // EventKind has no word for queues of its own: like projects, they order what services get.
      fact: { kind: 'queue', hostId: null, data: { format: 1, queueId, wakesPlacement: true }, event: said('PROJECT', message, actor) },
    },
    outcome: { kind: 'queue', queueId, changed: true },
  }
}

async function planWorker(database: Database, change: RegisterWorker, newId: NewId): Promise<CataloguePlan> {
  const { prisma } = database
  const host = await prisma.host.findUnique({ where: { name: change.host } })
  const instance = change.instance ?? null
  const registrations = await prisma.worker.findMany({
    where: { OR: [{ name: change.name }, { hostId: host?.id ?? '' }] },
    include: { host: { select: { name: true } } },
    orderBy: { name: 'asc' },
  })
  const held = heldBy(
    registrations.map((worker) => ({ ...worker, host: worker.host.name })),
    { name: change.name, host: change.host, instance },
  )
  if (held !== null) {
    const { field, message } = held
    return {
      write: null,
      outcome: { kind: 'refused', refusal: { code: 'INVALID_INPUT', message, issues: [{ path: ['input', field], message }] } },
    }
  }
  const known = registrations.find((worker) => worker.name === change.name)
  const hostId = (host?.id ?? newId()) as HostId
  const workerId = (known?.id ?? newId()) as WorkerId
  // Above all that was said of the host's replicas, by whichever worker: what this one says is newer.
  const { _max } = await prisma.replica.aggregate({ where: { hostId, state: { not: 'ENDED' } }, _max: { reportedEpoch: true } })
  const epoch = Math.max(_max.reportedEpoch ?? 0, ...registrations.map((worker) => worker.epoch)) + 1
  const { name, addresses, cpuMillis, memoryMiB, portRange, reservedPorts, softwareVersion, protocolVersion, subject } = change
  // A removed host begins anew.
  const scheduling = host === null || host.removedAt !== null ? 'OPEN' : host.scheduling
  const returned = host?.reachability !== 'LOST' || host.removedAt !== null || change.clean === true
  const row = {
    hostId,
    hostName: change.host,
    scheduling,
    reachability: returned ? 'REACHABLE' : 'LOST',
    reason: returned ? await schedulingReason(database, host?.id ?? null, scheduling) : uncleanReason,
    allocation: host ? host.allocation + 1 : 0,
    addresses,
    portFrom: portRange.from,
    portTo: portRange.to,
    reservedPorts,
    workerId,
    name,
    knownEpoch: known?.epoch ?? 0,
    epoch,
    instance,
    leaseSeconds: change.leaseSeconds ?? leaseSeconds,
    cpuMillis,
    memoryMiB,
    softwareVersion,
    protocolVersion,
    subject,
  }
  const stale = returned ? '' : ' It runs replicas that have been replaced, and takes no others before those have stopped.'
  const offer = `${cpuMillis} CPU millis, ${memoryMiB} MiB, ports ${portRange.from}–${portRange.to}`
  const message = `Worker ${name} registered on host ${change.host} (epoch ${epoch}): ${offer}.${stale}`
  return {
    write: {
      table: 'worker',
      row,
      fact: {
        kind: 'host',
        hostId,
        data: { format: 1, workerId, wakesPlacement: true },
        event: { ...said('HOST', message, subject), hostId },
      },
    },
    outcome: { kind: 'worker', workerId, hostId, epoch, returned },
  }
}

function said(kind: CatalogueWrite['fact']['event']['kind'], message: string, actor: string): CatalogueWrite['fact']['event'] {
  return { kind, message, actor, replicaId: null, hostId: null }
}
