import type { Logger } from 'pino'
import type { Tail } from '../../feed/tail.ts'
import type { CommittedFact } from '../../model/fact.ts'
import type { HostId } from '../../model/id.ts'
import type { Committer } from '../../store/commit/committer.ts'
import type { Database } from '../../store/database/database.ts'
import { readDrains } from '../../store/read/readDrains.ts'
import { CoalescedRuns } from '../timers/coalescedRuns.ts'

const againAfterMillis = 1_000

/**
 * Records that a host is drained once its last replica has left (R15). It looks at a host when that host's own facts or
 * the end of a replica there could have completed the drain, and at all of them at the start. Every server does this;
 * the event is recorded once, because the host's row is the guard.
 */
export class Drains {
  readonly #database: Database
  readonly #committer: Committer
  readonly #tail: Tail
  readonly #runs: CoalescedRuns
  /** Hosts that are being drained, or may be. */
  readonly #watched = new Set<HostId>()
  #toLookAt: Set<HostId> | 'all' = 'all'
  #unsubscribe: (() => void) | null = null

  constructor(options: {
    readonly database: Database
    readonly committer: Committer
    readonly tail: Tail
    readonly log: Logger
  }) {
    this.#database = options.database
    this.#committer = options.committer
    this.#tail = options.tail
    this.#runs = new CoalescedRuns({
      run: () => this.#run(),
      log: options.log,
      failure: 'It could not be looked up which hosts are drained',
      againAfterMillis: () => againAfterMillis,
    })
  }

  start(): void {
    this.#unsubscribe = this.#tail.subscribe(
      (facts) => this.#take(facts),
      () => {
        this.#toLookAt = 'all'
        this.#runs.wake()
      },
    )
    this.#runs.wake()
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.()
    await this.#runs.stop()
  }

  #take(facts: readonly CommittedFact[]): void {
    for (const { kind, hostId, data } of facts) {
      if (kind === 'host' && hostId !== null) {
        this.#watched.add(hostId)
        this.#note(hostId)
      } else if (kind === 'change') {
        const { ended, hosts } = data
        if (ended.length > 0) for (const host of hosts) if (this.#watched.has(host)) this.#note(host)
      }
    }
    if (this.#toLookAt === 'all' || this.#toLookAt.size > 0) this.#runs.wake()
  }

  #note(host: HostId): void {
    if (this.#toLookAt !== 'all') this.#toLookAt.add(host)
  }

  async #run(): Promise<void> {
    const hosts = this.#toLookAt === 'all' ? 'all' : [...this.#toLookAt]
    this.#toLookAt = new Set()
    try {
      await this.#lookAt(hosts)
    } catch (error) {
      if (hosts === 'all') this.#toLookAt = 'all'
      else for (const host of hosts) this.#note(host)
      throw error
    }
  }

  async #lookAt(hosts: readonly HostId[] | 'all'): Promise<void> {
    const drains = await readDrains(this.#database, hosts)
    if (hosts !== 'all') for (const host of hosts) if (!drains.some(({ id }) => id === host)) this.#forget(host)
    for (const { id } of drains) this.#watched.add(id)
    await Promise.all(
      drains.flatMap(({ id, empty }) => (empty ? [this.#committer.write({ kind: 'hostDrained', hostId: id })] : [])),
    )
  }

  /** The host is not being drained, unless a fact that came meanwhile says otherwise. */
  #forget(host: HostId): void {
    if (this.#toLookAt !== 'all' && !this.#toLookAt.has(host)) this.#watched.delete(host)
  }
}
