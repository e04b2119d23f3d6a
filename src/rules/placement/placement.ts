import type { Blocker } from '../../model/blocker.ts'
import { groupBy } from '../../model/groupBy.ts'
import type { Grant, PlacementHost, PlacementProject, WaitingReplica } from '../../model/host.ts'
import type { Instant, ReplicaId, ServiceId } from '../../model/id.ts'
import { isRangeBusy } from '../../model/portConflicts.ts'
import { type Candidate, candidatesOf, type Shape } from './candidate.ts'
import { HostSearch } from './hostSearch.ts'
import { LoadIndex } from './loadIndex.ts'
import { hostObstacle, type Obstacle, quotaObstacle, wordsOf } from './placementBlockers.ts'
import type { PortHolders } from './portHolders.ts'
import { portNeeds } from './ports.ts'

export interface PlacementInput {
  readonly waiting: readonly WaitingReplica[]
  readonly hosts: readonly PlacementHost[]
  readonly projects: readonly PlacementProject[]
  readonly now: Instant
}

/** A waiting replica that found no place. */
export interface Hold {
  readonly serviceId: ServiceId
  readonly replica: ReplicaId
  readonly blocker: Blocker
  /** What the blocker was worded from, and is worded from again when more is known of who holds its ports. */
  readonly obstacle: Obstacle
}

/** Every waiting replica is in exactly one of the two lists, in the order of the queue. */
export interface Placement {
  readonly grants: readonly (Grant & { readonly serviceId: ServiceId })[]
  readonly holds: readonly Hold[]
}

/**
 * R13, R14: gives waiting replicas a worker, CPU, memory, all their ports and quota, each all at once or not at all.
 * The queue's priority decides, then age; a replica that does not fit never delays those behind it. Only workers that
 * are REACHABLE, on hosts that are OPEN, are used. The order of the input does not matter.
 */
export function place({ waiting, hosts, projects, now }: PlacementInput): Placement {
  const sorted = [...hosts].sort((a, b) => (a.id < b.id ? -1 : 1))
  const index = new LoadIndex(candidatesOf(sorted, now))
  const searches = new Searches(index, hosts)
  const quota = new Quota(projects)
  const grants: (Grant & { serviceId: ServiceId })[] = []
  const holds: Hold[] = []

  for (const replica of [...waiting].sort(compareWaiting)) {
    const { id, serviceId } = replica
    const found = quota.obstacle(replica) ?? searches.find(replica)
    if (!('shape' in found)) {
      holds.push({ serviceId, replica: id, blocker: blockerOf(found, id, now), obstacle: found })
      continue
    }
    const { candidate } = found
    const { host, worker } = candidate
    const busyRange = isRangeBusy(replica) ? candidate.on.ports.describeRange(host.name) : null
    const ports = candidate.take(replica)
    index.moved(candidate)
    quota.take(replica)
    grants.push({
      serviceId,
      replicaId: id,
      hostId: host.id,
      hostName: host.name,
      hostAddresses: host.addresses,
      allocation: host.allocation,
      ports,
      workerId: worker.id,
      lastPort: candidate.on.lastPort,
      busyRange,
    })
  }
  return { grants, holds }
}

/** Words the blocker of a hold again, now that it is known who holds its ports. */
export function withHolders(hold: Hold, holders: PortHolders, now: Instant): Hold {
  return { ...hold, blocker: blockerOf(hold.obstacle, hold.replica, now, holders) }
}

function blockerOf(obstacle: Obstacle, replica: ReplicaId, now: Instant, holders: PortHolders = new Map()): Blocker {
  const words = wordsOf(obstacle, holders, now)
  const toStop = obstacle.toStop === undefined ? {} : { toStop: obstacle.toStop }
  return { reason: obstacle.reason, ...words, count: 1, since: now, replica, ...toStop }
}

/** Groups grants or blockers by service, in the order given: each service gets its own in one commit. */
export function byService<T extends { readonly serviceId: ServiceId }>(items: readonly T[]): Map<ServiceId, T[]> {
  return groupBy(items, ({ serviceId }) => serviceId)
}

/** R14: the queue's priority comes first (the higher one), then age, then the id. */
function compareWaiting(a: WaitingReplica, b: WaitingReplica): number {
  return b.queuePriority - a.queuePriority || a.createdAt - b.createdAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}

/** Keeps one search for all equal replicas of a service. What was found to fit nowhere is not searched for again. */
class Searches {
  readonly #index: LoadIndex
  readonly #hosts: readonly PlacementHost[]
  readonly #searches = new Map<string, HostSearch | Obstacle>()
  /** Shapes that fit on no host, whatever the service. */
  readonly #nowhere = new Map<string, Obstacle>()

  constructor(index: LoadIndex, hosts: readonly PlacementHost[]) {
    this.#index = index
    this.#hosts = hosts
  }

  find(replica: WaitingReplica): { readonly candidate: Candidate; readonly shape: Shape } | Obstacle {
    const { cpuMillis, memoryMiB, serviceId, spreadMode, maxPerHost } = replica
    const ports = portNeeds(replica.ports)
    const signature = `${cpuMillis} ${memoryMiB} ${ports.signature}`
    const nowhere = this.#nowhere.get(signature)
    if (nowhere !== undefined) return nowhere
    const key = `${serviceId} ${spreadMode} ${maxPerHost} ${signature}`
    const search =
      this.#searches.get(key) ?? new HostSearch(this.#index, replica, { cpuMillis, memoryMiB, ports, signature })
    if (!(search instanceof HostSearch)) return search
    const candidate = search.find(replica.avoidHostId, replica.bannedHostId)
    if (candidate !== null) {
      this.#searches.set(key, search)
      return { candidate, shape: search.shape }
    }
    const obstacle = hostObstacle(replica, search.shape, this.#hosts, this.#index)
    // What keeps one replica off its own host says nothing of the others.
    if (replica.bannedHostId !== null) this.#searches.set(key, search)
    else if (obstacle.general) this.#nowhere.set(signature, obstacle)
    else this.#searches.set(key, obstacle)
    return obstacle
  }
}

/** Counts the room in projects. A replica that already holds quota needs no more (R17). */
class Quota {
  readonly #projects: ReadonlyMap<string, PlacementProject>
  readonly #used: Map<string, number>

  constructor(projects: readonly PlacementProject[]) {
    this.#projects = new Map(projects.map((project) => [project.id, project]))
    this.#used = new Map(projects.map((project) => [project.id, project.usedReplicas]))
  }

  obstacle({ projectId, holdsQuota }: WaitingReplica): Obstacle | null {
    const project = this.#projects.get(projectId)
    if (holdsQuota || project === undefined || project.maxReplicas === null) return null
    const used = this.#used.get(projectId) ?? 0
    return used < project.maxReplicas ? null : quotaObstacle(project, used, project.maxReplicas)
  }

  take({ projectId, holdsQuota }: WaitingReplica): void {
    if (!holdsQuota) this.#used.set(projectId, (this.#used.get(projectId) ?? 0) + 1)
  }
}
