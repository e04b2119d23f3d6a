import type { BlockReason } from '../../generated/prisma/enums.ts'
import { counted } from '../../model/counted.ts'
import type { PlacementHost, PlacementProject, PlacementWorker, WaitingReplica } from '../../model/host.ts'
import type { Instant } from '../../model/id.ts'
import { type Candidate, type CandidateHost, type Lack, type Shape, takesReplicas } from './candidate.ts'
import type { PortNeeds } from './ports.ts'

/** The reason why placement found no place, not yet tied to one replica. */
export interface Obstacle {
  readonly reason: BlockReason
  readonly message: string
  /** The obstacle holds for every service, because the shape itself fits nowhere. */
  readonly general: boolean
  /**
   * When the quarantine of a needed port ends, so that placement is worth another try; null where none is in the way.
   */
  readonly until: Instant | null
  /** QUOTA only: how many replicas of the project have to end before there is room for one. */
  readonly toStop?: number
}

/** How many hosts there are by the first thing that keeps a replica off them. */
type Tally = Record<'cordoned' | 'draining' | 'drained' | 'unreachable' | 'lost' | 'spread' | Lack, number>

export function quotaObstacle({ name }: PlacementProject, used: number, maxReplicas: number): Obstacle {
  const toStop = used - maxReplicas + 1
  return {
    reason: 'QUOTA',
    message: `Project ${name} has ${used} of at most ${counted(maxReplicas, 'replica')}. Stop ${toStop} of them, or raise its maxReplicas to ${used + 1} or more.`,
    general: false,
    until: null,
    toStop,
  }
}

/**
 * Counts what keeps a replica off each host: cordoned and unreachable hosts first, then CPU, memory and ports, and
 * STRICT spread where nothing else is in the way. The reason is the one that keeps it off the most hosts among those
 * that take replicas, because help is worth most there.
 */
export function hostObstacle(
  replica: Pick<WaitingReplica, 'serviceName' | 'maxPerHost'>,
  shape: Shape,
  hosts: readonly PlacementHost[],
  candidates: Iterable<Candidate>,
): Obstacle {
  if (hosts.length === 0)
    return { reason: 'NO_HOST', message: 'There is no host. Start a worker on one.', general: true, until: null }
  const tally: Tally = {
    cordoned: 0,
    draining: 0,
    drained: 0,
    unreachable: 0,
    lost: 0,
    spread: 0,
    cpu: 0,
    memory: 0,
    fixedPort: 0,
    anyPort: 0,
  }
  for (const host of hosts) {
    if (host.reachability === 'LOST') tally.lost++
    else if (host.reachability === 'UNREACHABLE') tally.unreachable++
    else if (host.scheduling === 'CORDONED') tally.cordoned++
    else if (host.scheduling === 'DRAINING' && host.replicasOf.size === 0) tally.drained++
    else if (host.scheduling === 'DRAINING' || !host.workers.some(takesReplicas)) tally.draining++
  }
  let until: Instant | null = null
  for (const [{ ports }, lack] of lacksOf(shape, candidates)) {
    tally[lack]++
    const freeAt = lack === 'fixedPort' || lack === 'anyPort' ? ports.freeAt(shape.ports) : null
    if (freeAt !== null) until = Math.min(until ?? freeAt, freeAt)
  }
  const counts = `${hosts.length} ${hosts.length === 1 ? 'host' : 'hosts'}: ${describe(tally, shape, replica.maxPerHost).join(', ')}`
  const isLargeEnough = hosts.some(({ workers }) => workers.some((worker) => holds(worker, shape)))
  const { reason, fault, help } = verdict(tally, replica, shape, isLargeEnough)
  return { reason, message: `${fault} (${counts}). ${help}`, general: tally.spread === 0, until }
}

/** Finds for each host what is in the way on the worker that comes closest. */
function lacksOf(shape: Shape, candidates: Iterable<Candidate>): Map<CandidateHost, Lack | 'spread'> {
  const lacks = new Map<CandidateHost, Lack | 'spread'>()
  for (const candidate of candidates) {
    const lack = candidate.lacks(shape) ?? 'spread'
    const known = lacks.get(candidate.on)
    if (known === undefined || inOrder.indexOf(lack) > inOrder.indexOf(known)) lacks.set(candidate.on, lack)
  }
  return lacks
}

const inOrder: readonly (Lack | 'spread')[] = ['cpu', 'memory', 'fixedPort', 'anyPort', 'spread']

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
      fault: 'No host takes replicas',
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
    return {
      reason: 'NO_PORT',
      fault: `No host has ${portsOf(shape.ports)} free`,
      help: 'Add a host or stop what holds them.',
    }
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
function hostHelp({ cordoned, draining, drained, unreachable, lost }: Tally): string {
  const ways = ['start a worker on another host']
  if (cordoned + draining + drained > 0) ways.push('uncordon one')
  if (unreachable + lost > 0) ways.push('start a worker again on one that is silent')
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
  return parts.join(' and ')
}

function fixedPorts(fixed: PortNeeds['fixed']): string {
  const named = fixed.map(({ port, protocol }) => (protocol === 'TCP' ? `${port}` : `${port}/udp`))
  return `${named.length === 1 ? 'port' : 'ports'} ${named.join(', ')}`
}
