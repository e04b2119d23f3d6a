import { isDeepStrictEqual } from 'node:util'
import type { Worker } from '../../generated/prisma/client.ts'
import { leaseSeconds } from '../../model/bounds.ts'
import type { Content } from '../../model/content.ts'
import type { HostId, ProfileId, ProfileRevisionId, ProjectId, QueueId, WorkerId } from '../../model/id.ts'
import { sameContent } from '../../rules/content.ts'
import { hostStateOf, reasonOf } from '../../rules/hostState.ts'
import { isSame, type Newcomer, nameHeldBy } from '../../rules/workerName.ts'
import type { Database } from '../database.ts'
import type { CatalogueWrite } from './catalogueStatement.ts'
import { hasReplicas, isEmpty, planHost, uncleanReason } from './hostPlan.ts'
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
  // The same state directory is the same worker, also under a new name. With another one it is another worker, and who had the name is LOST.
  const known = named && isSame(named, newcomer) ? named : (host?.workers.find((worker) => isAlike(worker, newcomer)) ?? null)
  if (known !== null && known.subject !== change.subject && change.asAdmin !== true) {
    const message = `Worker ${known.name} was registered with another token: use that one, or another name.`
    return { write: null, outcome: { kind: 'refused', refusal: { code: 'FORBIDDEN', message } } }
  }
  const hostId = (host?.id ?? newId()) as HostId
  const workerId = (known?.id ?? newId()) as WorkerId
  // Of a LOST one those only get fewer.
  if (known !== null && known.hostId !== hostId && (await hasReplicas(database, known.id))) {
    return invalid('name', `Worker ${change.name} has replicas on another host, which are being replaced: register again in a moment.`)
  }
  // Above all that was said of its replicas: what it says now is newer.
  const { _max } = await prisma.replica.aggregate({ where: { workerId, state: { not: 'ENDED' } }, _max: { reportedEpoch: true } })
  const epoch = Math.max(_max.reportedEpoch ?? 0, known?.epoch ?? 0) + 1
  const { name, addresses, cpuMillis, memoryMiB, portRange, reservedPorts, softwareVersion, protocolVersion, subject } = change
  // A removed host begins anew.
  const scheduling = host === null || host.removedAt !== null ? 'OPEN' : host.scheduling
  // One that nobody knows any more was LOST: what it still runs was replaced.
  const returned = known === null ? change.clean !== false : known.reachability !== 'LOST' || change.clean === true
  const reachability = returned ? 'REACHABLE' : 'LOST'
  const reason = returned ? null : uncleanReason
  const others = (host?.workers ?? []).filter(({ id }) => id !== workerId)
  const forgotten = await forgettable(database, named === null || named.id === known?.id ? others : [...others, named])
  // Who had the name, where something is kept for it still.
  const aside = named !== null && named.id !== known?.id && !forgotten.includes(named.id) ? named : null
  const own = { name, reachability, reason, draining: false, cpuMillis, memoryMiB } as const
  const workers = [...others.filter(({ id }) => !forgotten.includes(id)), own]
  const state = hostStateOf(workers)
  const isDrained = host !== null && scheduling === 'DRAINING' && (await isEmpty(database, hostId))
  // What one that is to be clean first says of the host does not count while others are there.
  const counts = returned || host === null || !others.some((other) => other.reachability === 'REACHABLE')
  const told = counts ? { addresses, reservedPorts, portFrom: portRange.from, portTo: portRange.to } : host
  const row = {
    hostId,
    hostName: change.host,
    scheduling,
    hostReachability: state.reachability,
    hostReason: reasonOf(scheduling, isDrained, workers),
    hostCpuMillis: state.cpuMillis,
    hostMemoryMiB: state.memoryMiB,
    allocation: host ? host.allocation + 1 : 0,
    addresses: told.addresses,
    portFrom: told.portFrom,
    portTo: told.portTo,
    reservedPorts: told.reservedPorts,
    workerId,
    asideId: aside?.id ?? null,
    asideName: aside && `${aside.name}.lost-${aside.id.slice(-8)}`,
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
  const there = workers.filter((worker) => worker.reachability !== 'LOST').length
  const beside = there > 1 ? `, one of ${there} workers there` : ''
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

/** LOST ones that nothing is kept for: nobody needs to know of them when another one comes. */
async function forgettable(database: Database, workers: readonly Worker[]): Promise<readonly string[]> {
  const forgotten: string[] = []
  for (const { id, reachability } of workers) {
    // First the replicas, whose ports are kept when they end.
    if (reachability !== 'LOST' || (await hasReplicas(database, id))) continue
    if ((await database.prisma.hostPort.count({ where: { lostWorkerId: id } })) === 0) forgotten.push(id)
  }
  return forgotten
}

function isAlike(worker: Worker, newcomer: Newcomer): boolean {
  return worker.instance !== null && newcomer.instance !== null && isSame(worker, newcomer)
}

function invalid(field: string, message: string): CataloguePlan {
  const refusal = { code: 'INVALID_INPUT', message, issues: [{ path: ['input', field], message }] } as const
  return { write: null, outcome: { kind: 'refused', refusal } }
}

function said(kind: CatalogueWrite['fact']['event']['kind'], message: string, actor: string): CatalogueWrite['fact']['event'] {
  return { kind, message, actor, replicaId: null, hostId: null }
}
