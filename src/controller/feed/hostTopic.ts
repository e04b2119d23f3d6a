import type { HostId, ReplicaId, Revision } from '../../model/id.ts'
import { ChangeLog } from './changeLog.ts'

/** One change that concerns a host. */
export interface HostTopicChange {
  /** Replicas whose assignment may have changed. */
  readonly replicas: readonly ReplicaId[]
  /** The host or one of its workers changed: an epoch may be old now. */
  readonly registration: boolean
}

/** What all followers of one host's assignments share: the last changes. It keeps no assignments: those are read when they are sent. */
export class HostTopic {
  readonly hostId: HostId
  readonly #wakes = new Set<() => void>()
  readonly #log: ChangeLog<HostTopicChange>
  #lost = false

  /** `head`: the feed's position when the topic was opened. */
  constructor(hostId: HostId, head: Revision) {
    this.hostId = hostId
    this.#log = new ChangeLog(head)
  }

  /** Facts were missed: subscribers begin anew, on another topic. */
  get lost(): boolean {
    return this.#lost
  }

  get revision(): Revision {
    return this.#log.head
  }

  get subscribers(): number {
    return this.#wakes.size
  }

  subscribe(wake: () => void): () => void {
    this.#wakes.add(wake)
    return () => this.#wakes.delete(wake)
  }

  since(cursor: Revision): readonly HostTopicChange[] | null {
    return this.#log.since(cursor)
  }

  lose(): void {
    this.#lost = true
    for (const wake of this.#wakes) wake()
  }

  take(revision: Revision, change: HostTopicChange): void {
    this.#log.append(revision, change)
    for (const wake of this.#wakes) wake()
  }
}
