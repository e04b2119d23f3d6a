import type { Host, Worker } from '../../generated/prisma/client.ts'
import type { HostScheduling, Reachability } from '../../generated/prisma/enums.ts'
import type { HostId, WorkerId } from '../../model/id.ts'
import type { Refusal } from '../../model/refusal.ts'
import { counted } from '../../rules/counted.ts'
import { drainedMessage, drainedReason, hostStateOf, reasonOf } from '../../rules/hostState.ts'
import type { Database } from '../database.ts'
import { readFreeable } from '../readFreeable.ts'
import type { CataloguePlan } from './cataloguePlan.ts'
import type { HostChange, JudgeWorker } from './outcome.ts'

type HostRow = Host & { readonly workers: readonly Worker[] }
type Change<Kind extends HostChange['kind']> = Extract<HostChange, { readonly kind: Kind }>

/** What becomes of a worker's row. What is left out stays. */
interface NextWorker {
  readonly reachability?: Reachability
  readonly reason?: string | null
  /** By the brake; left out: as long as it is UNREACHABLE. */
  readonly held?: boolean
  readonly draining?: boolean
  /** Its epoch is raised: what it says under the old one is FENCED. */
  readonly fences?: boolean
  /** It runs nothing: its host has the ports back that were kept for it. */
  readonly clean?: boolean
  readonly removes?: boolean
}

/** What becomes of a host's row, beside its allocation and what follows from its workers. */
interface NextHost {
  readonly workers: ReadonlyMap<string, NextWorker>
  readonly scheduling?: HostScheduling
  /** Of one that can't be reached; left out: that of its workers. */
  readonly reason?: string
  /** Said that it is drained, where it is; left out: only if that was said before. */
  readonly mayBeDrained?: boolean
  readonly removes?: boolean
  readonly wakesPlacement?: boolean
  readonly guard?: Guard
}

/** What else must hold when it is written. */
interface Guard {
  readonly workerId: WorkerId
  readonly epoch?: number
  readonly judged?: Pick<JudgeWorker, 'serverId' | 'heartbeatSeconds' | 'leaseUntil'>
}

const none: ReadonlyMap<string, NextWorker> = new Map()

/** Of a LOST worker that is back. */
export const uncleanReason = 'It is back after it was lost, and has to stop what was replaced meanwhile before it takes new replicas.'

/** Reads the host and decides on it (R15). */
export function planHost(database: Database, change: HostChange): Promise<CataloguePlan> {
  switch (change.kind) {
    case 'judgeWorker':
      return planJudgement(database, change)
    case 'returnWorker':
      return planReturn(database, change)
    case 'drainWorker':
      return planWorkerDrain(database, change)
    case 'leaveHost':
      return planLeave(database, change)
    case 'scheduleHost':
      return planScheduling(database, change)
    case 'hostDrained':
      return planDrained(database, change)
    case 'confirmHostLoss':
      return planLoss(database, change)
    case 'removeHost':
      return planRemoval(database, change)
    case 'removeWorker':
      return planWorkerRemoval(database, change)
    case 'freePorts':
      return planFreePorts(database, change)
  }
}

async function planJudgement(database: Database, change: JudgeWorker): Promise<CataloguePlan> {
  const { hostId, workerId, to, reason, message, serverId, heartbeatSeconds, leaseUntil } = change
  const host = await findHost(database, { id: hostId })
  const worker = host?.workers.find(({ id }) => id === workerId)
  if (host === null || worker === undefined || worker.reachability === 'LOST') return unchanged(hostId)
  const held = to === 'HELD'
  const isDone = held ? worker.held : worker.reachability === to
  if (isDone || worker.leaseUntil.getTime() !== leaseUntil || !(await isWell(database, serverId, heartbeatSeconds)))
    return unchanged(hostId)
  const reachability = held ? worker.reachability : to
  const workers = new Map([[workerId, { reachability, reason, held, fences: to === 'LOST' }]])
  const guard = { workerId, judged: { serverId, heartbeatSeconds, leaseUntil } }
  return written(database, host, { workers, guard }, message, 'xce')
}

async function planReturn(database: Database, { hostId, workerId, epoch }: Change<'returnWorker'>): Promise<CataloguePlan> {
  const host = await findHost(database, { id: hostId })
  const worker = host?.workers.find(({ id }) => id === workerId)
  if (host === null || worker?.epoch !== epoch || worker.reachability === 'REACHABLE') return unchanged(hostId)
  const how = worker.reachability === 'LOST' ? 'and runs nothing that was replaced' : 'before it was lost'
  const workers = new Map([[workerId, { reachability: 'REACHABLE', reason: null, clean: true } as const]])
  const next = { workers, guard: { workerId, epoch }, mayBeDrained: true, wakesPlacement: true }
  return written(database, host, next, `${subjectOf(host, worker)} is back, ${how}.`, worker.subject)
}

async function planWorkerDrain(database: Database, { hostId, workerId, epoch, actor }: Change<'drainWorker'>): Promise<CataloguePlan> {
  const host = await findHost(database, { id: hostId })
  const worker = host?.workers.find(({ id }) => id === workerId)
  if (host === null || worker?.epoch !== epoch || worker.draining) return unchanged(hostId)
  const next = { workers: new Map([[workerId, { draining: true }]]), guard: { workerId, epoch } }
  const message = `Worker ${worker.name} on host ${host.name} is drained, for it is to end: its replicas are replaced elsewhere, within the limits of their services.`
  return written(database, host, next, message, actor)
}

async function planLeave(database: Database, { hostId, workerId, epoch, to }: Change<'leaveHost'>): Promise<CataloguePlan> {
  const host = await findHost(database, { id: hostId })
  const worker = host?.workers.find(({ id }) => id === workerId)
  if (host === null || worker?.epoch !== epoch || worker.reachability === 'LOST') return unchanged(hostId)
  const reason = `It has started again on host ${to}.`
  const workers = new Map([[workerId, { reachability: 'LOST', reason, fences: true } as const]])
  const message = `Worker ${worker.name} has left host ${host.name} for host ${to}: its replicas are replaced.`
  return written(database, host, { workers, guard: { workerId, epoch } }, message, worker.subject)
}

async function planScheduling(database: Database, { name, scheduling, actor }: Change<'scheduleHost'>): Promise<CataloguePlan> {
  const host = await findHost(database, { name })
  if (host === null) return refused(noHost(name))
  const drained = scheduling === 'OPEN' ? host.workers.filter(({ draining }) => draining) : []
  if (host.scheduling === scheduling && drained.length === 0) {
    const message = `Host ${name} is ${scheduling} already: there is nothing to change.`
    return refused({ code: 'NO_CHANGE', message, path: ['input', 'host'] })
  }
  const wasDrained = host.scheduling === 'DRAINING' || drained.length > 0
  const said = {
    OPEN: `${actor} uncordoned host ${name}: it takes replicas${wasDrained ? ', and those that have not left it stay' : ''}.`,
    CORDONED: `${actor} cordoned host ${name}: it takes no new replicas${wasDrained ? ', and those that have not left it stay' : ''}.`,
    DRAINING: `${actor} drains host ${name}: its replicas are replaced elsewhere, within the limits of their services.`,
  }[scheduling]
  const isDrained = scheduling === 'DRAINING' && host.reachability === 'REACHABLE' && (await isEmpty(database, host.id))
  const message = isDrained ? `${actor} drained host ${name}: it has no replicas, and takes none.` : said
  const workers = new Map(drained.map(({ id }) => [id, { draining: false }]))
  return written(database, host, { workers, scheduling, mayBeDrained: true, wakesPlacement: scheduling === 'OPEN' }, message, actor)
}

async function planDrained(database: Database, { hostId }: Change<'hostDrained'>): Promise<CataloguePlan> {
  const host = await findHost(database, { id: hostId })
  const isDraining = host?.scheduling === 'DRAINING' && host.reachability === 'REACHABLE'
  if (host === null || !isDraining || host.reason === drainedReason || !(await isEmpty(database, hostId))) return unchanged(hostId)
  return written(database, host, { workers: none, mayBeDrained: true }, drainedMessage(host.name), 'xce')
}

async function planLoss(database: Database, { name, actor }: Change<'confirmHostLoss'>): Promise<CataloguePlan> {
  const host = await findHost(database, { name })
  if (host === null) return refused(noHost(name))
  const silent = host.workers.filter(({ reachability }) => reachability === 'UNREACHABLE')
  if (silent.length === 0) {
    const why = host.reachability === 'LOST' ? 'is lost already' : 'is reachable, so that it is not lost: drain it, then stop its worker'
    return refused({ code: 'INVALID_STATE', message: `Host ${name} ${why}.`, path: ['input', 'host'] })
  }
  const reason = `${actor} confirmed that it is lost.`
  const workers = new Map(silent.map(({ id }) => [id, { reachability: 'LOST', reason, fences: true } as const]))
  const what =
    host.reachability === 'REACHABLE'
      ? `${counted(silent.length, 'silent worker')} of host ${name} (${silent.map((worker) => worker.name).join(', ')}) ${silent.length === 1 ? 'is' : 'are'}`
      : `host ${name} is`
  return written(database, host, { workers }, `${actor} confirmed that ${what} lost.`, actor)
}

async function planRemoval(database: Database, { name, actor }: Change<'removeHost'>): Promise<CataloguePlan> {
  const host = await findHost(database, { name })
  if (host === null) return refused(noHost(name))
  if (host.reachability === 'REACHABLE') {
    const message = `Host ${name} is reachable: drain it, stop its worker, and remove it when its lease is over.`
    return refused({ code: 'INVALID_STATE', message, path: ['input', 'host'] })
  }
  const replicas = await replicasOf(database, { hostId: host.id })
  if (replicas > 0) {
    const help = host.reachability === 'LOST' ? 'they are being replaced, so try again' : 'wait until it is lost, or use confirmHostLoss'
    const message = `Host ${name} has ${counted(replicas, 'replica')} that have not ended: ${help}.`
    return refused({ code: 'INVALID_STATE', message, path: ['input', 'host'] })
  }
  const workers = new Map(host.workers.map(({ id }) => [id, { removes: true }]))
  return written(database, host, { workers, reason: `${actor} removed it.`, removes: true }, `${actor} removed host ${name}.`, actor)
}

async function planWorkerRemoval(database: Database, { name, actor }: Change<'removeWorker'>): Promise<CataloguePlan> {
  const named = await database.prisma.worker.findUnique({ where: { name }, select: { hostId: true } })
  const host = named && (await findHost(database, { id: named.hostId }))
  // As it was when the host was, whose row is the guard.
  const worker = host?.workers.find((other) => other.name === name)
  if (!worker || !host) {
    const message = `There is no worker named ${JSON.stringify(name)}: see the workers of the query hosts.`
    return refused({ code: 'NOT_FOUND', message, path: ['input', 'worker'] })
  }
  const replicas = await replicasOf(database, { workerId: worker.id })
  if (worker.reachability !== 'LOST' || replicas > 0) {
    const why = {
      REACHABLE: 'is reachable: drain and stop it, and remove it when it is lost',
      UNREACHABLE: `is not lost yet: wait until its grace is over, or use confirmHostLoss of host ${host.name}`,
      LOST: `has ${counted(replicas, 'replica')} that are being replaced: try again`,
    }[worker.reachability]
    return refused({ code: 'INVALID_STATE', message: `Worker ${name} ${why}.`, path: ['input', 'worker'] })
  }
  const next = { workers: new Map([[worker.id, { removes: true }]]), wakesPlacement: true }
  return written(database, host, next, `${actor} removed worker ${name} of host ${host.name}.`, actor)
}

async function planFreePorts(database: Database, { hostId }: Change<'freePorts'>): Promise<CataloguePlan> {
  const host = await findHost(database, { id: hostId })
  if (host === null || !(await readFreeable(database)).includes(hostId)) return unchanged(hostId)
  const message = `Host ${host.name} has the ports back that were kept for a worker which is gone, or runs nothing of it any more.`
  return written(database, host, { workers: none, wakesPlacement: true }, message, 'xce')
}

/** "Host n1", or its worker, where the host is reachable by another one. */
function subjectOf(host: HostRow, worker: Worker): string {
  return host.reachability === 'REACHABLE' ? `Worker ${worker.name} on host ${host.name}` : `Host ${host.name}`
}

/** A host that is not removed. */
function findHost({ prisma }: Database, where: { readonly id: string } | { readonly name: string }): Promise<HostRow | null> {
  return prisma.host.findFirst({ where: { ...where, removedAt: null }, include: { workers: { orderBy: { name: 'asc' } } } })
}

/** How many have not ended. */
function replicasOf({ prisma }: Database, where: { readonly hostId: string } | { readonly workerId: string }): Promise<number> {
  return prisma.replica.count({ where: { hostId: { not: null }, ...where, state: { in: ['PENDING', 'STARTING', 'RUNNING', 'STOPPING'] } } })
}

/** Whether a worker has replicas that have not ended. */
export async function hasReplicas(database: Database, workerId: string): Promise<boolean> {
  return (await replicasOf(database, { workerId })) > 0
}

/** Whether no replica is left on it. */
export async function isEmpty(database: Database, hostId: string): Promise<boolean> {
  return (await replicasOf(database, { hostId })) === 0
}

async function isWell({ prisma }: Database, serverId: string, seconds: number): Promise<boolean> {
  const [row] = await prisma.$queryRaw<{ well: boolean }[]>`
    SELECT "heartbeatAt" > clock_timestamp() - make_interval(secs => ${seconds}::float8) AS well FROM "Server" WHERE "id" = ${serverId}`
  return row?.well === true
}

async function written(database: Database, host: HostRow, next: NextHost, message: string, actor: string): Promise<CataloguePlan> {
  const hostId = host.id as HostId
  const workers = host.workers.map((worker) => ({ ...worker, ...next.workers.get(worker.id) }))
  const staying = workers.filter(({ removes }) => removes !== true)
  const { reachability, cpuMillis, memoryMiB } = hostStateOf(staying)
  const scheduling = next.scheduling ?? host.scheduling
  const mayBeDrained = next.mayBeDrained === true || host.reason === drainedReason
  const isDrained = scheduling === 'DRAINING' && mayBeDrained && (await isEmpty(database, hostId))
  const { guard } = next
  const judged = guard?.judged
  return {
    write: {
      table: 'host',
      row: {
        hostId,
        allocation: host.allocation + 1,
        scheduling,
        reachability,
        reason: next.reason ?? reasonOf(scheduling, isDrained, staying),
        cpuMillis,
        memoryMiB,
        removes: next.removes === true,
        workers: workers
          .filter(({ id }) => next.workers.has(id))
          .map(({ id, reachability: reach, reason, held, draining, fences, clean, removes }) => ({
            id,
            reachability: reach,
            reason,
            held: held && reach === 'UNREACHABLE',
            draining,
            fences: fences === true,
            clean: clean === true,
            removes: removes === true,
          })),
        workerId: guard?.workerId ?? null,
        epoch: guard?.epoch ?? null,
        serverId: judged?.serverId ?? null,
        heartbeatSeconds: judged?.heartbeatSeconds ?? null,
        leaseUntil: judged === undefined ? null : new Date(judged.leaseUntil).toISOString(),
      },
      fact: {
        kind: 'host',
        hostId,
        data: { format: 1, wakesPlacement: next.wakesPlacement === true },
        event: { kind: 'HOST', message, actor, replicaId: null, hostId },
      },
    },
    outcome: { kind: 'host', hostId, changed: true },
  }
}

function unchanged(hostId: HostId): CataloguePlan {
  return { write: null, outcome: { kind: 'host', hostId, changed: false } }
}

function refused(refusal: Refusal): CataloguePlan {
  return { write: null, outcome: { kind: 'refused', refusal } }
}

function noHost(name: string): Refusal {
  return { code: 'NOT_FOUND', message: `There is no host named ${JSON.stringify(name)}: see the query hosts.`, path: ['input', 'host'] }
}
