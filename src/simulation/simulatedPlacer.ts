import { rowsPerCommit } from '../model/bounds.ts'
import type { Grant, WaitingReplica } from '../model/host.ts'
import type { ServiceId } from '../model/id.ts'
import type { ServiceIntent } from '../model/intent.ts'
import { BlockerNews } from '../rules/placement/blockerNews.ts'
import { byService, place } from '../rules/placement/placement.ts'
import type { SimulatedService } from './simulatedService.ts'
import type { SimulatedStore } from './simulatedStore.ts'

/**
 * Places what waits, as the server's placer does: everything at once, and a replica gets a blocker only when it is a
 * new one.
 */
export class SimulatedPlacer {
  readonly #store: SimulatedStore
  readonly #waiting = new Set<SimulatedService>()
  /** Waiting replicas of services that are not simulated. They take room when there is some, and keep it. */
  #others: readonly WaitingReplica[] = []
  readonly #news = new BlockerNews()

  constructor(store: SimulatedStore) {
    this.#store = store
  }

  addOthers(waiting: readonly WaitingReplica[]): void {
    this.#others = waiting
  }

  /** Notes whether anything of the service waits, after each change of it. */
  watch(service: SimulatedService): void {
    if (service.waiting.size > 0) this.#waiting.add(service)
    else this.#waiting.delete(service)
  }

  /**
   * Places now and yields the resulting intents. All grants of one placement fit beside one another, so those past the
   * row cap follow in the next commit.
   */
  *run(): Generator<readonly [ServiceId, ServiceIntent]> {
    const { hosts, projects, services, now } = this.#store
    const waiting: WaitingReplica[] = [...this.#others]
    for (const service of this.#waiting) for (const replica of service.waitingReplicas()) waiting.push(replica)
    if (waiting.length === 0) return
    const { grants, holds } = place({ waiting, hosts: [...hosts.values()], projects: [...projects.values()], now })
    const news = this.#news.of(holds).filter(({ serviceId }) => services.has(serviceId))
    for (const [serviceId, own] of byService(grants)) {
      if (services.has(serviceId)) for (const part of inParts(own)) yield [serviceId, { kind: 'grant', grants: part }]
      else this.#grantOthers(own)
    }
    for (const [serviceId, own] of byService(news))
      for (const part of inParts(own)) yield [serviceId, { kind: 'setBlockers', blockers: part }]
  }

  #grantOthers(grants: readonly Grant[]): void {
    const { hosts, projects, now } = this.#store
    const granted = new Map(grants.map((grant) => [grant.replicaId, grant]))
    this.#others = this.#others.filter(({ id, serviceId, projectId, cpuMillis, memoryMiB, holdsQuota }) => {
      const grant = granted.get(id)
      if (grant === undefined) return true
      const { hostId, workerId, allocation, lastPort } = grant
      const portsTaken = grant.ports.map((port) => ({ ...port, replicaId: id }))
      const host = hosts.get(hostId)
      host?.count(serviceId, workerId, { cpuMillis, memoryMiB }, 1)
      const use = {
        hostId,
        allocation,
        cpuMillis,
        memoryMiB,
        lastPort,
        portsTaken,
        portsReleased: [],
        portsQuarantined: [],
        portsKept: [],
      }
      host?.apply(use, now)
      const project = projects.get(projectId)
      if (project !== undefined && !holdsQuota) project.usedReplicas++
      return false
    })
  }
}

function* inParts<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += rowsPerCommit) yield items.slice(from, from + rowsPerCommit)
}
