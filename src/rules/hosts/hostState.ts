import type { HostScheduling, Reachability } from '../../generated/prisma/enums.ts'
import { counted } from '../../model/counted.ts'
import { endedReason } from '../../model/endedReason.ts'

/** The part of a worker's state that its host's state follows from. */
export interface WorkerState {
  readonly name: string
  readonly reachability: Reachability
  /** Why it is not reachable; null when it is. */
  readonly reason: string | null
  readonly draining: boolean
  readonly cpuMillis: number
  readonly memoryMiB: number
}

export interface HostState {
  readonly reachability: Reachability
  readonly cpuMillis: number
  readonly memoryMiB: number
}

/** R15: a host is as reachable as the best of its workers, and has the room of those that are not LOST. Without workers it is LOST. */
export function hostStateOf(workers: readonly WorkerState[]): HostState {
  const offering = workers.filter(({ reachability }) => reachability !== 'LOST')
  return {
    reachability: bestOf(workers),
    cpuMillis: offering.reduce((sum, { cpuMillis }) => sum + cpuMillis, 0),
    memoryMiB: offering.reduce((sum, { memoryMiB }) => sum + memoryMiB, 0),
  }
}

export function bestOf(workers: readonly Pick<WorkerState, 'reachability'>[]): Reachability {
  if (workers.some(({ reachability }) => reachability === 'REACHABLE')) return 'REACHABLE'
  return workers.some(({ reachability }) => reachability === 'UNREACHABLE') ? 'UNREACHABLE' : 'LOST'
}

/** The reason of a host that is being drained and has no replica left. */
export const drainedReason = 'It is drained: it has no replicas, and takes no new ones until uncordonHost.'

export function drainedMessage(name: string): string {
  return `Host ${name} is drained: none of its replicas is left on it.`
}

export function portsBackMessage(name: string): string {
  return `Host ${name} has the ports back that were kept for a worker which is gone, or runs nothing of it any more.`
}

/** Says in a sentence why a host is not simply open and reachable; null when it is. */
export function reasonOf(scheduling: HostScheduling, isEmpty: boolean, workers: readonly WorkerState[]): string | null {
  const reachability = bestOf(workers)
  if (reachability !== 'REACHABLE') return faultOf(workers.filter((worker) => worker.reachability === reachability))
  if (scheduling === 'DRAINING' && isEmpty) return drainedReason
  if (scheduling === 'CORDONED') return 'It is cordoned: it takes no new replicas until uncordonHost.'
  if (scheduling === 'DRAINING') return 'It is being drained: its replicas are replaced elsewhere, until uncordonHost.'
  const silent = workers.filter(({ reachability }) => reachability === 'UNREACHABLE')
  if (silent.length > 0) return `${someOf(silent, workers)} can't be reached.`
  const draining = workers.filter((worker) => worker.draining && worker.reachability === 'REACHABLE')
  return draining.length > 0
    ? `${someOf(draining, workers)} ${draining.length === 1 ? 'is' : 'are'} being drained.`
    : null
}

/** The reason of a host without a reachable worker. That a worker ended in order is said only where no other was lost. */
function faultOf(away: readonly WorkerState[]): string {
  const missed = away.find(({ reason }) => reason !== endedReason) ?? away[0]
  return missed?.reason ?? 'It has no worker.'
}

/** Names some of the workers: "Of its 3 workers a and b". */
function someOf(some: readonly WorkerState[], all: readonly WorkerState[]): string {
  return `Of its ${counted(all.length, 'worker')} ${some.map(({ name }) => name).join(' and ')}`
}
