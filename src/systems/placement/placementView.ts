import type { ClusterFactData, CommittedFact, ServiceFactData } from '../../model/fact.ts'
import type { Grant, PlacementHost, PlacementProject, WaitingReplica } from '../../model/host.ts'
import type { HostId, ProjectId, ServiceId } from '../../model/id.ts'
import {
  type PlacementSource,
  type PlacementState,
  readHosts,
  readProjects,
  readWaiting,
} from '../../store/read/readPlacement.ts'

/**
 * What placement looks at, kept from run to run, so that a run costs what has changed since the last one and not what there is. Facts say what
 * to read anew: a service's fact itself, its project and the hosts where its replicas came or went; a fact of the catalogue what it is about. What is
 * read is at least as new as the facts that were noted before. It may be older than the database, like everything that is read without a lock:
 * then the guard of a grant finds that out.
 */
export class PlacementView {
  readonly #source: PlacementSource
  readonly #waiting = new Kept<ServiceId, readonly WaitingReplica[]>()
  readonly #hosts = new Kept<HostId, PlacementHost>()
  readonly #projects = new Kept<ProjectId, PlacementProject>()

  constructor(source: PlacementSource) {
    this.#source = source
  }

  /** Facts that were committed, by whatever server. */
  note(facts: readonly CommittedFact[]): void {
    for (const { kind, data, serviceId, hostId } of facts) {
      if (data === null) continue
      if (kind === 'change' && serviceId !== null) {
        const { projectId, hosts } = data as ServiceFactData
        this.#waiting.touch(serviceId)
        this.#projects.touch(projectId)
        for (const host of hosts) this.#hosts.touch(host)
      } else {
        const { projectId } = data as ClusterFactData
        if (kind === 'queue') this.#waiting.forget()
        if (projectId !== undefined) this.#projects.touch(projectId)
        if (hostId !== null) this.#hosts.touch(hostId)
      }
    }
  }

  /** Grants are on their way: whether they are taken or refused, their facts may come later than the next run. */
  noteGrants(grants: readonly (Grant & { readonly serviceId: ServiceId })[]): void {
    for (const { serviceId, hostId } of grants) {
      for (const { projectId } of this.#waiting.rows.get(serviceId)?.slice(0, 1) ?? []) this.#projects.touch(projectId)
      this.#waiting.touch(serviceId)
      this.#hosts.touch(hostId)
    }
  }

  /** Facts were missed: everything is read anew. */
  forget(): void {
    this.#waiting.forget()
    this.#hosts.forget()
    this.#projects.forget()
  }

  async read(): Promise<PlacementState> {
    const source = this.#source
    await this.#waiting.renew((services) => readWaiting(source, services))
    await this.#hosts.renew((hosts) => readHosts(source, hosts))
    await this.#projects.renew((projects) => readProjects(source, projects))
    return {
      waiting: [...this.#waiting.rows.values()].flat(),
      hosts: [...this.#hosts.rows.values()],
      projects: [...this.#projects.rows.values()],
    }
  }
}

/** Rows by their ids, each as it was read when it was touched last. */
class Kept<Id extends string, Row> {
  readonly rows = new Map<Id, Row>()
  #stale: Set<Id> | 'all' = 'all'

  touch(id: Id): void {
    if (this.#stale !== 'all') this.#stale.add(id)
  }

  forget(): void {
    this.#stale = 'all'
  }

  /** Reads what is stale. What is touched meanwhile stays so for the next time. */
  async renew(read: (ids: readonly Id[] | 'all') => Promise<ReadonlyMap<Id, Row>>): Promise<void> {
    const asked = this.#stale
    if (asked !== 'all' && asked.size === 0) return
    this.#stale = new Set()
    try {
      const found = await read(asked === 'all' ? 'all' : [...asked])
      for (const id of asked === 'all' ? this.rows.keys() : asked) if (!found.has(id)) this.rows.delete(id)
      for (const [id, row] of found) this.rows.set(id, row)
    } catch (error) {
      if (asked === 'all') this.forget()
      else for (const id of asked) this.touch(id)
      throw error
    }
  }
}
