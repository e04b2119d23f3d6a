import type { CommittedFact } from '../../model/fact.ts'
import type { Grant, PlacementHost, PlacementProject, Room, WaitingReplica } from '../../model/host.ts'
import type { HostId, ProjectId, ServiceId } from '../../model/id.ts'
import {
  type PlacementSource,
  type PlacementState,
  readHosts,
  readProjects,
  readWaiting,
} from '../../store/read/readPlacement.ts'

/**
 * Everything placement looks at, kept from run to run, so that a run costs what has changed and not what there is. A
 * service's fact invalidates that service, its project and the hosts where its replicas came or went; any other fact
 * invalidates the row it names. What is read is at least as new as the facts that were applied before. It may be older
 * than the database, as everything that is read without a lock; the guard of a grant notices that.
 */
export class PlacementView {
  readonly #source: PlacementSource
  readonly #waiting = new Kept<ServiceId, readonly WaitingReplica[]>()
  readonly #hosts = new Kept<HostId, PlacementHost>()
  readonly #projects = new Kept<ProjectId, PlacementProject>()
  #lastReading: Promise<unknown> = Promise.resolve()

  constructor(source: PlacementSource) {
    this.#source = source
  }

  /** Applies committed facts, whichever server committed them. */
  note(facts: readonly CommittedFact[]): void {
    for (const fact of facts) this.#invalidate(fact)
  }

  #invalidate(fact: CommittedFact): void {
    const { kind } = fact
    switch (kind) {
      case 'change':
        this.#waiting.touch(fact.serviceId)
        this.#projects.touch(fact.data.projectId)
        for (const host of fact.data.hosts) this.#hosts.touch(host)
        return
      case 'host':
        if (fact.hostId !== null) this.#hosts.touch(fact.hostId)
        return
      case 'project':
        if (fact.data.projectId !== undefined) this.#projects.touch(fact.data.projectId)
        return
      case 'queue':
        // Its priority is a part of every row that waits in it.
        this.#waiting.forget()
        return
      case 'eventOnly':
      case 'profile':
        // Placement reads neither events nor profiles.
        return
      default:
        kind satisfies never
    }
  }

  /**
   * Marks what these grants touch as stale: whether they are accepted or refused, their facts may come later than the
   * next run.
   */
  noteGrants(grants: readonly (Grant & { readonly serviceId: ServiceId })[]): void {
    for (const { serviceId, hostId } of grants) {
      for (const { projectId } of this.#waiting.rows.get(serviceId)?.slice(0, 1) ?? []) this.#projects.touch(projectId)
      this.#waiting.touch(serviceId)
      this.#hosts.touch(hostId)
    }
  }

  /** Facts were missed: everything is read again. */
  forget(): void {
    this.#waiting.forget()
    this.#hosts.forget()
    this.#projects.forget()
  }

  read(): Promise<PlacementState> {
    return this.#inTurn(async () => {
      await this.#waiting.renew((services) => readWaiting(this.#source, services))
      await this.#renewRoom()
      return {
        waiting: [...this.#waiting.rows.values()].flat(),
        hosts: [...this.#hosts.rows.values()],
        projects: [...this.#projects.rows.values()],
      }
    })
  }

  /** Reads what has changed of hosts and projects. The room that it returns follows what is read later. */
  readRoom(): Promise<Room> {
    return this.#inTurn(async () => {
      await this.#renewRoom()
      const hosts = this.#hosts.rows
      const projects = this.#projects.rows
      return {
        hosts: { [Symbol.iterator]: () => hosts.values() },
        projects: { [Symbol.iterator]: () => projects.values() },
      }
    })
  }

  async #renewRoom(): Promise<void> {
    await this.#hosts.renew((hosts) => readHosts(this.#source, hosts))
    await this.#projects.renew((projects) => readProjects(this.#source, projects))
  }

  /** Lets one reading follow the other, because a second one would take the rows for new that the first still reads. */
  #inTurn<T>(reading: () => Promise<T>): Promise<T> {
    const turn = this.#lastReading.then(reading)
    this.#lastReading = turn.catch(() => undefined)
    return turn
  }
}

/** Rows by their ids. A row that was touched since it was read is stale. */
class Kept<Id extends string, Row> {
  readonly rows = new Map<Id, Row>()
  #stale: Set<Id> | 'all' = 'all'

  touch(id: Id): void {
    if (this.#stale !== 'all') this.#stale.add(id)
  }

  forget(): void {
    this.#stale = 'all'
  }

  /** Reads the stale rows. A row that is touched meanwhile stays stale for the next time. */
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
