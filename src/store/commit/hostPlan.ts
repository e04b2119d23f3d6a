import type { Host, Worker } from '../../generated/prisma/client.ts'
import type { HostScheduling, Reachability } from '../../generated/prisma/enums.ts'
import type { HostId, WorkerId } from '../../model/id.ts'
import type { Refusal } from '../../model/refusal.ts'
import { drainedMessage, drainedReason } from '../../rules/hostLife.ts'
import type { Database } from '../database.ts'
import type { CataloguePlan } from './cataloguePlan.ts'
import type { HostChange, JudgeHost } from './outcome.ts'

type HostRow = Host & { readonly workers: readonly Worker[] }
type Change<Kind extends HostChange['kind']> = Extract<HostChange, { readonly kind: Kind }>

/** What a host's row becomes, beside its allocation. */
interface NextHost {
  readonly scheduling?: HostScheduling
  readonly reachability?: Reachability
  readonly reason: string | null
  /** The epochs of its workers are raised: what they say under the old one is FENCED. */
  readonly fences?: boolean
  readonly removes?: boolean
  /** Only this worker is meant, in this epoch. */
  readonly worker?: { readonly workerId: WorkerId; readonly epoch: number }
  readonly judged?: Pick<JudgeHost, 'serverId' | 'heartbeatSeconds' | 'leaseUntil'>
  readonly wakesPlacement?: boolean
}

/** Why a host that takes no new replicas does not; null: it is OPEN. `id` null: it is new. */
export async function schedulingReason(database: Database, id: string | null, scheduling: HostScheduling): Promise<string | null> {
  if (scheduling === 'DRAINING' && id !== null && (await replicasOn(database, id)) === 0) return drainedReason
  if (scheduling === 'CORDONED') return 'It is cordoned: it takes no new replicas until uncordonHost.'
  return scheduling === 'DRAINING' ? 'It is being drained: its replicas are replaced elsewhere, until uncordonHost.' : null
}

/** Of a LOST host whose worker is back. */
export const uncleanReason =
  'Its worker is back after it was lost, and has to stop what was replaced meanwhile before it takes new replicas.'

/** Reads the host and decides on it (R15). */
export function planHost(database: Database, change: HostChange): Promise<CataloguePlan> {
  switch (change.kind) {
    case 'judgeHost':
      return planJudgement(database, change)
    case 'returnHost':
      return planReturn(database, change)
    case 'scheduleHost':
      return planScheduling(database, change)
    case 'hostDrained':
      return planDrained(database, change)
    case 'confirmHostLoss':
      return planLoss(database, change)
    case 'removeHost':
      return planRemoval(database, change)
  }
}

async function planJudgement(database: Database, change: JudgeHost): Promise<CataloguePlan> {
  const { hostId, to, reason, message, serverId, heartbeatSeconds, leaseUntil } = change
  const host = await findHost(database, { id: hostId })
  const isDone = to === 'HELD' ? host?.reason === reason : host?.reachability === to
  if (host === null || isDone || host.reachability === 'LOST') return unchanged(hostId)
  if (leaseOf(host) !== leaseUntil || !(await isWell(database, serverId, heartbeatSeconds))) return unchanged(hostId)
  const reachability = to === 'HELD' ? host.reachability : to
  return written(host, { reachability, reason, fences: to === 'LOST', judged: { serverId, heartbeatSeconds, leaseUntil } }, message, 'xce')
}

async function planReturn(database: Database, { hostId, workerId, epoch }: Change<'returnHost'>): Promise<CataloguePlan> {
  const host = await findHost(database, { id: hostId })
  const worker = host?.workers.find(({ id }) => id === workerId)
  if (host === null || host.reachability === 'REACHABLE' || worker?.epoch !== epoch) return unchanged(hostId)
  const how = host.reachability === 'LOST' ? 'and runs nothing that was replaced' : 'before it was lost'
  const next = {
    reachability: 'REACHABLE',
    reason: await schedulingReason(database, hostId, host.scheduling),
    worker: { workerId, epoch },
    wakesPlacement: true,
  } as const
  return written(host, next, `Host ${host.name} is back, ${how}.`, worker.subject)
}

async function planScheduling(database: Database, { name, scheduling, actor }: Change<'scheduleHost'>): Promise<CataloguePlan> {
  const host = await findHost(database, { name })
  if (host === null) return refused(noHost(name))
  if (host.scheduling === scheduling) {
    const message = `Host ${name} is ${scheduling} already: there is nothing to change.`
    return refused({ code: 'NO_CHANGE', message, path: ['input', 'host'] })
  }
  const said = {
    OPEN: `${actor} uncordoned host ${name}: it takes replicas${host.scheduling === 'DRAINING' ? ', and those that have not left it stay' : ''}.`,
    CORDONED: `${actor} cordoned host ${name}: it takes no new replicas${host.scheduling === 'DRAINING' ? ', and those that have not left it stay' : ''}.`,
    DRAINING: `${actor} drains host ${name}: its replicas are replaced elsewhere, within the limits of their services.`,
  }[scheduling]
  const reason = host.reachability === 'REACHABLE' ? await schedulingReason(database, host.id, scheduling) : host.reason
  const message = reason === drainedReason ? `${actor} drained host ${name}: it has no replicas, and takes none.` : said
  return written(host, { scheduling, reason, wakesPlacement: scheduling === 'OPEN' }, message, actor)
}

async function planDrained(database: Database, { hostId }: Change<'hostDrained'>): Promise<CataloguePlan> {
  const host = await findHost(database, { id: hostId })
  const isDraining = host?.scheduling === 'DRAINING' && host.reachability === 'REACHABLE'
  if (host === null || !isDraining || host.reason === drainedReason || (await replicasOn(database, hostId)) > 0) return unchanged(hostId)
  return written(host, { reason: drainedReason }, drainedMessage(host.name), 'xce')
}

async function planLoss(database: Database, { name, actor }: Change<'confirmHostLoss'>): Promise<CataloguePlan> {
  const host = await findHost(database, { name })
  if (host === null) return refused(noHost(name))
  if (host.reachability !== 'UNREACHABLE') {
    const why = host.reachability === 'LOST' ? 'is lost already' : 'is reachable, so that it is not lost: drain it, then stop its worker'
    return refused({ code: 'INVALID_STATE', message: `Host ${name} ${why}.`, path: ['input', 'host'] })
  }
  const reason = `${actor} confirmed that it is lost.`
  return written(host, { reachability: 'LOST', reason, fences: true }, `${actor} confirmed that host ${name} is lost.`, actor)
}

async function planRemoval(database: Database, { name, actor }: Change<'removeHost'>): Promise<CataloguePlan> {
  const host = await findHost(database, { name })
  if (host === null) return refused(noHost(name))
  if (host.reachability === 'REACHABLE') {
    const message = `Host ${name} is reachable: drain it, stop its worker, and remove it when its lease is over.`
    return refused({ code: 'INVALID_STATE', message, path: ['input', 'host'] })
  }
  const replicas = await replicasOn(database, host.id)
  if (replicas > 0) {
    const help = host.reachability === 'LOST' ? 'they are being replaced, so try again' : 'wait until it is lost, or use confirmHostLoss'
    const message = `Host ${name} has ${replicas} ${replicas === 1 ? 'replica' : 'replicas'} that have not ended: ${help}.`
    return refused({ code: 'INVALID_STATE', message, path: ['input', 'host'] })
  }
  const next = { reachability: 'LOST', reason: `${actor} removed it.`, fences: true, removes: true } as const
  return written(host, next, `${actor} removed host ${name}.`, actor)
}

/** A host that is not removed. */
function findHost({ prisma }: Database, where: { readonly id: string } | { readonly name: string }): Promise<HostRow | null> {
  return prisma.host.findFirst({ where: { ...where, removedAt: null }, include: { workers: true } })
}

/** How many have not ended. */
function replicasOn({ prisma }: Database, hostId: string): Promise<number> {
  return prisma.replica.count({ where: { hostId, state: { in: ['PENDING', 'STARTING', 'RUNNING', 'STOPPING'] } } })
}

/** When the last of its workers' leases ends. */
function leaseOf({ workers }: HostRow): number | null {
  return workers.length === 0 ? null : Math.max(...workers.map(({ leaseUntil }) => leaseUntil.getTime()))
}

async function isWell({ prisma }: Database, serverId: string, seconds: number): Promise<boolean> {
  const [row] = await prisma.$queryRaw<{ well: boolean }[]>`
    SELECT "heartbeatAt" > clock_timestamp() - make_interval(secs => ${seconds}::float8) AS well FROM "Server" WHERE "id" = ${serverId}`
  return row?.well === true
}

function written(host: HostRow, next: NextHost, message: string, actor: string): CataloguePlan {
  const hostId = host.id as HostId
  const { judged, worker } = next
  return {
    write: {
      table: 'host',
      row: {
        hostId,
        allocation: host.allocation + 1,
        scheduling: next.scheduling ?? host.scheduling,
        reachability: next.reachability ?? host.reachability,
        reason: next.reason,
        fences: next.fences === true,
        removes: next.removes === true,
        workerId: worker?.workerId ?? null,
        epoch: worker?.epoch ?? null,
        serverId: judged?.serverId ?? null,
        heartbeatSeconds: judged?.heartbeatSeconds ?? null,
        leaseUntil: judged?.leaseUntil == null ? null : new Date(judged.leaseUntil).toISOString(),
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
