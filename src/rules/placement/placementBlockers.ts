import type { BlockReason } from '../../generated/prisma/enums.ts'
import { type Blocker, type BlockerObject, mostObjects } from '../../model/blocker.ts'
import { counted } from '../../model/counted.ts'
import { endedReason } from '../../model/endedReason.ts'
import type { MissingPort, PlacementHost, PlacementProject, PlacementWorker, WaitingReplica } from '../../model/host.ts'
import type { HostId, Instant } from '../../model/id.ts'
import { listed } from '../../model/listed.ts'
import { type Candidate, type CandidateHost, type Lack, type Shape, takesReplicas } from './candidate.ts'
import { freedAt, holderSentences, type PortHolders } from './portHolders.ts'
import type { PortNeeds } from './ports.ts'

/** The reason why placement found no place, not yet tied to one replica. */
export interface Obstacle {
  readonly reason: BlockReason
  /** A sentence that says what is missing. */
  readonly fault: string
  /** A sentence that says what helps. */
  readonly help: string
  /** Fixed ports that hosts do not have free, of the first hosts only. */
  readonly missing: readonly MissingPort[]
  /** How many hosts with missing ports are not in `missing`. */
  readonly unlisted: number
  /** The obstacle holds for every service, because the shape itself fits nowhere. */
  readonly general: boolean
  /**
   * When the quarantine of a needed port ends, so that placement is worth another try; null where none is in the way.
   */
  readonly until: Instant | null
  /** QUOTA only: how many replicas of the project have to end before there is room for one. */
  readonly toStop?: number
  /** QUOTA only: the project. */
  readonly about?: readonly BlockerObject[]
}

const noneMissing = { missing: [], unlisted: 0 } as const
/** So many missing ports a message names: more would not be read. */
const mostListed = 4

/** What may keep a replica off a host that takes replicas; `left`: the host is the one that it is to leave (R15). */
type Hindrance = Lack | 'spread' | 'left'

/** How many hosts there are by the first thing that keeps a replica off them. */
type Tally = Record<'cordoned' | 'draining' | 'drained' | 'unreachable' | 'lost' | 'ended' | Hindrance, number>

export function quotaObstacle({ id, name }: PlacementProject, used: number, maxReplicas: number): Obstacle {
  const toStop = used - maxReplicas + 1
  return {
    reason: 'QUOTA',
    fault: `Project ${name} has ${used} of at most ${counted(maxReplicas, 'replica')}.`,
    help: `Stop ${toStop} of them, or raise its maxReplicas to ${used + 1} or more.`,
    ...noneMissing,
    general: false,
    until: null,
    toStop,
    about: [{ type: 'Project', id }],
  }
}

/**
 * Counts what keeps a replica off each host: cordoned and unreachable hosts first, then CPU, memory and ports, and
 * STRICT spread where nothing else is in the way. The reason is the one that keeps it off the most hosts among those
 * that take replicas, because help is worth most there.
 */
export function hostObstacle(
  replica: Pick<WaitingReplica, 'serviceName' | 'maxPerHost' | 'bannedHostId'>,
  shape: Shape,
  hosts: readonly PlacementHost[],
  candidates: Iterable<Candidate>,
): Obstacle {
  if (hosts.length === 0)
    return {
      reason: 'NO_HOST',
      fault: 'There is no host.',
      help: 'Start a worker on one.',
      ...noneMissing,
      general: true,
      until: null,
    }
  const tally: Tally = {
    cordoned: 0,
    draining: 0,
    drained: 0,
    unreachable: 0,
    lost: 0,
    ended: 0,
    left: 0,
    spread: 0,
    cpu: 0,
    memory: 0,
    fixedPort: 0,
    anyPort: 0,
  }
  for (const host of hosts) {
    if (host.reachability === 'LOST') tally[host.reason === endedReason ? 'ended' : 'lost']++
    else if (host.reachability === 'UNREACHABLE') tally.unreachable++
    else if (host.scheduling === 'CORDONED') tally.cordoned++
    else if (host.scheduling === 'DRAINING' && host.replicasOf.size === 0) tally.drained++
    else if (host.scheduling === 'DRAINING' || !host.workers.some(takesReplicas)) tally.draining++
  }
  let until: Instant | null = null
  const missing: MissingPort[] = []
  let unlisted = 0
  for (const [{ host, ports }, lack] of lacksOf(shape, candidates, replica.bannedHostId)) {
    tally[lack]++
    if (lack === 'fixedPort' && missing.length >= mostListed) unlisted++
    else if (lack === 'fixedPort')
      missing.push(...ports.missing(shape.ports).map((port) => ({ hostId: host.id, hostName: host.name, ...port })))
    const freeAt = lack === 'fixedPort' || lack === 'anyPort' ? ports.freeAt(shape.ports) : null
    if (freeAt !== null) until = Math.min(until ?? freeAt, freeAt)
  }
  const counts = `${hosts.length} ${hosts.length === 1 ? 'host' : 'hosts'}: ${describe(tally, shape, replica.maxPerHost).join(', ')}`
  const isLargeEnough = hosts.some(({ workers }) => workers.some((worker) => holds(worker, shape)))
  const { reason, fault, help } = verdict(tally, replica, shape, isLargeEnough)
  const ports = reason === 'NO_PORT' ? { missing: missing.slice(0, mostListed), unlisted } : noneMissing
  return { reason, fault: `${fault} (${counts}).`, help, ...ports, general: tally.spread === 0, until }
}

/** Words an obstacle as a whole, with who holds the ports, and says when it ends by itself. */
export function wordsOf(
  { fault, help, missing, unlisted, until, about = [] }: Obstacle,
  holders: PortHolders,
  now: Instant,
): Pick<Blocker, 'message' | 'remedy' | 'objects' | 'until'> {
  const sentences = [fault, ...holderSentences(missing, holders)]
  if (unlisted > 0) sentences.push(`${counted(unlisted, 'more host')} ${unlisted === 1 ? 'lacks' : 'lack'} it, too.`)
  const freeAt = freedAt(missing, holders, now)
  const ends = [until, freeAt].filter((end) => end !== null)
  const hosts = [...new Set(missing.map(({ hostId }) => hostId))].map((id) => ({ type: 'Host', id }) as const)
  return {
    message: [...sentences, help].join(' '),
    remedy: help,
    ...(about.length + hosts.length === 0 ? {} : { objects: [...about, ...hosts].slice(0, mostObjects) }),
    until: ends.length === 0 ? null : Math.min(...ends),
  }
}

/** Finds for each host what is in the way on the worker that comes closest. */
function lacksOf(shape: Shape, candidates: Iterable<Candidate>, banned: HostId | null): Map<CandidateHost, Hindrance> {
  const lacks = new Map<CandidateHost, Hindrance>()
  for (const candidate of candidates) {
    const lack = candidate.host.id === banned ? 'left' : (candidate.lacks(shape) ?? 'spread')
    const known = lacks.get(candidate.on)
    if (known === undefined || inOrder.indexOf(lack) > inOrder.indexOf(known)) lacks.set(candidate.on, lack)
  }
  return lacks
}

const inOrder: readonly Hindrance[] = ['cpu', 'memory', 'fixedPort', 'anyPort', 'spread', 'left']

/** Finds what keeps the replica off the most hosts among those that take replicas. */
function verdict(
  tally: Tally,
  replica: Pick<WaitingReplica, 'serviceName' | 'maxPerHost'>,
  shape: Shape,
  isLargeEnough: boolean,
): Verdict {
  const capacity = tally.cpu + tally.memory
  const port = tally.fixedPort + tally.anyPort
  const most = Math.max(capacity, port, tally.spread)
  if (most === 0)
    return {
      reason: 'NO_HOST',
      fault: tally.left > 0 ? 'No other host takes replicas' : 'No host takes replicas',
      help: hostHelp(tally),
    }
  if (most === capacity) {
    return {
      reason: 'NO_CAPACITY',
      fault: `No host has room for ${room(shape)}`,
      help: isLargeEnough
        ? 'Add a host or stop something there.'
        : 'No worker is that large: add a host with a worker that is, or ask for less.',
    }
  }
  if (most === port) {
    const { fixed } = shape.ports
    const help =
      tally.fixedPort === 0
        ? 'Add a host or stop something there.'
        : `Add a host, or free ${fixed.length === 1 ? 'that port' : 'those ports'} on one of them.`
    return { reason: 'NO_PORT', fault: `No host has ${portsOf(shape.ports)} free`, help }
  }
  return {
    reason: 'SPREAD',
    fault: `No host is left for ${spreadOf(replica)}`,
    help: 'Add a host or raise maxPerHost.',
  }
}

interface Verdict {
  readonly reason: BlockReason
  readonly fault: string
  readonly help: string
}

/** Whether the replica would fit on the worker if nothing else ran there. */
function holds(worker: PlacementWorker, { cpuMillis, memoryMiB }: Shape): boolean {
  return takesReplicas(worker) && worker.cpuMillis >= cpuMillis && worker.memoryMiB >= memoryMiB
}

/** Names what would make a host take replicas: only what helps with the hosts that there are. */
function hostHelp({ cordoned, draining, drained, unreachable, lost, ended }: Tally): string {
  const ways = ['start a worker on another host']
  if (cordoned + draining + drained > 0) ways.push('uncordon one')
  if (unreachable + lost > 0) ways.push('start a worker again on one that is silent')
  if (ended > 0) ways.push('start a worker again on one where it has ended')
  const sentence = ways.length === 1 ? ways.join() : `${ways.slice(0, -1).join(', ')} or ${ways.at(-1)}`
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`
}

function room({ cpuMillis, memoryMiB }: Shape): string {
  return `${cpuMillis} CPU millis and ${memoryMiB} MiB`
}

function spreadOf({ serviceName, maxPerHost }: Pick<WaitingReplica, 'serviceName' | 'maxPerHost'>): string {
  return `another replica of ${serviceName}, whose STRICT spread allows ${maxPerHost} per host`
}

function describe(tally: Tally, shape: Shape, maxPerHost: number): string[] {
  const { fixed, any } = shape.ports
  const already = maxPerHost === 1 ? 'a replica already' : `${maxPerHost} replicas already`
  const rows: readonly (readonly [number, string])[] = [
    [tally.cordoned, 'cordoned'],
    [tally.draining, 'draining'],
    [tally.drained, 'drained'],
    [tally.unreachable, 'unreachable'],
    [tally.lost, 'lost'],
    [tally.ended, 'ended'],
    [tally.left, 'that it is to leave'],
    [tally.cpu, `without ${shape.cpuMillis} CPU millis free`],
    [tally.memory, `without ${shape.memoryMiB} MiB free`],
    [tally.fixedPort, `without ${fixedPorts(fixed)} free`],
    [tally.anyPort, `without ${any.TCP + any.UDP} free ${any.TCP + any.UDP === 1 ? 'port' : 'ports'}`],
    [tally.spread, `${tally.spread === 1 ? 'has' : 'have'} ${already}`],
  ]
  return rows.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
}

function portsOf({ fixed, any }: PortNeeds): string {
  const parts = fixed.length > 0 ? [fixedPorts(fixed)] : []
  const count = any.TCP + any.UDP
  if (count > 0) parts.push(`${count} ${count === 1 ? 'port' : 'ports'} of its range`)
  return listed(parts)
}

function fixedPorts(fixed: PortNeeds['fixed']): string {
  const named = fixed.map(({ port, protocol }) => (protocol === 'TCP' ? `${port}` : `${port}/udp`))
  return `${named.length === 1 ? 'port' : 'ports'} ${named.join(', ')}`
}
