import { isDeepStrictEqual } from 'node:util'
import type { Worker } from '../../generated/prisma/client.ts'
import { leaseSeconds } from '../../model/bounds.ts'
import type { Content } from '../../model/content.ts'
import type { HostId, ProfileId, ProfileRevisionId, ProjectId, QueueId, WorkerId } from '../../model/id.ts'
import { sameContent } from '../../rules/content.ts'
import { hostStateOf, reasonOf } from '../../rules/hostState.ts'
import { isSame, nameHeldBy } from '../../rules/workerName.ts'
import type { Database } from '../database.ts'
import type { CatalogueWrite } from './catalogueStatement.ts'
import { isEmpty, planHost, uncleanReason } from './hostPlan.ts'
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
  const host = await prisma.host.findUnique({ where: { name: change.host }, include: { workers: { orderBy: { name: 'asc' } } } })
  const instance = change.instance ?? null
  const newcomer = { name: change.name, host: change.host, instance }
  const named = await prisma.worker.findUnique({ where: { name: change.name }, include: { host: { select: { name: true } } } })
  const held = named && nameHeldBy({ ...named, host: named.host.name }, newcomer)
  if (held !== null) return invalid('name', held)
  // The same state directory is the same worker, also under a new name.
  const known = named ?? host?.workers.find((worker) => worker.instance !== null && isSame(worker, newcomer)) ?? null
  const hostId = (host?.id ?? newId()) as HostId
  const workerId = (known?.id ?? newId()) as WorkerId
  // Above all that was said of its replicas: what it says now is newer.
  const { _max } = await prisma.replica.aggregate({ where: { workerId, state: { not: 'ENDED' } }, _max: { reportedEpoch: true } })
  const epoch = Math.max(_max.reportedEpoch ?? 0, known?.epoch ?? 0) + 1
  const { name, addresses, cpuMillis, memoryMiB, portRange, reservedPorts, softwareVersion, protocolVersion, subject } = change
  // A removed host begins anew.
  const scheduling = host === null || host.removedAt !== null ? 'OPEN' : host.scheduling
  const returned = known?.reachability !== 'LOST' || change.clean === true
  const reachability = returned ? 'REACHABLE' : 'LOST'
  const others = (host?.workers ?? []).filter(({ id }) => id !== workerId)
  const forgotten = await forgettable(database, others)
  const workers = [
    ...others.filter(({ id }) => !forgotten.includes(id)),
    { name, reachability, draining: false, cpuMillis, memoryMiB } as const,
  ]
  const state = hostStateOf(workers)
  const isDrained = host !== null && scheduling === 'DRAINING' && (await isEmpty(database, hostId))
  const reason = returned ? null : uncleanReason
  const row = {
    hostId,
    hostName: change.host,
    scheduling,
    hostReachability: state.reachability,
    hostReason: state.reachability === 'REACHABLE' ? reasonOf(scheduling, isDrained, workers) : reason,
    hostCpuMillis: state.cpuMillis,
    hostMemoryMiB: state.memoryMiB,
    allocation: host ? host.allocation + 1 : 0,
    addresses,
    portFrom: portRange.from,
    portTo: portRange.to,
    reservedPorts,
    workerId,
    // What another state directory has on another host is not known to be gone.
    oldHostId: known && isSame(known, newcomer) ? known.hostId : hostId,
    name,
    reachability,
    reason,
    knownEpoch: known?.epoch ?? 0,
    epoch,
    instance,
    leaseSeconds: change.leaseSeconds ?? leaseSeconds,
    cpuMillis,
    memoryMiB,
    softwareVersion,
    protocolVersion,
    subject,
    forgotten,
  }
  const stale = returned ? '' : ' It runs replicas that have been replaced, and takes no others before those have stopped.'
  const offer = `${cpuMillis} CPU millis, ${memoryMiB} MiB, ports ${portRange.from}–${portRange.to}`
  const beside = workers.length > 1 ? `, one of ${workers.length} workers there` : ''
  const message = `Worker ${name} registered on host ${change.host}${beside} (epoch ${epoch}): ${offer}.${stale}`
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

/** LOST ones of a host that nothing is kept for: nobody needs to know of them when another one comes. */
async function forgettable({ prisma }: Database, workers: readonly Worker[]): Promise<readonly string[]> {
  const lost = workers.filter(({ reachability }) => reachability === 'LOST').map(({ id }) => id)
  if (lost.length === 0) return []
  const kept = await prisma.hostPort.findMany({
    where: { lostWorkerId: { in: lost } },
    select: { lostWorkerId: true },
    distinct: ['lostWorkerId'],
  })
  const alive = await prisma.replica.findMany({
    where: { workerId: { in: lost }, hostId: { not: null }, state: { in: ['PENDING', 'STARTING', 'RUNNING', 'STOPPING'] } },
    select: { workerId: true },
    distinct: ['workerId'],
  })
  const needed = new Set([...kept.map(({ lostWorkerId }) => lostWorkerId), ...alive.map(({ workerId }) => workerId)])
  return lost.filter((id) => !needed.has(id))
}

function invalid(field: string, message: string): CataloguePlan {
  const refusal = { code: 'INVALID_INPUT', message, issues: [{ path: ['input', field], message }] } as const
  return { write: null, outcome: { kind: 'refused', refusal } }
}

function said(kind: CatalogueWrite['fact']['event']['kind'], message: string, actor: string): CatalogueWrite['fact']['event'] {
  return { kind, message, actor, replicaId: null, hostId: null }
}
