import type { Logger } from 'pino'
import type { CommittedFact, ServiceFactData } from '../model/fact.ts'
import type { HostId } from '../model/id.ts'
import type { Committer } from '../store/commit/committer.ts'
import type { Database } from '../store/database.ts'
import { readDrains } from '../store/readDrains.ts'
import type { Tail } from '../store/tail.ts'

const againAfterMillis = 1_000

/**
 * Says that a host is drained, once its last replica has left (R15). It looks at a host when its own facts or the end of a replica there could
 * have made it so, and at all of them at the start. Every server does; it is said once, for the host's row is the guard.
 */
export class Drains {
  readonly #database: Database
  readonly #committer: Committer
  readonly #tail: Tail
  readonly #log: Logger
  /** Hosts that are being drained, and those that may be. */
  readonly #watched = new Set<HostId>()
  #toLookAt: Set<HostId> | 'all' = 'all'
  #looking: Promise<void> | null = null
  #retry: NodeJS.Timeout | undefined
  #unsubscribe: (() => void) | null = null

  constructor(options: { readonly database: Database; readonly committer: Committer; readonly tail: Tail; readonly log: Logger }) {
    this.#database = options.database
    this.#committer = options.committer
    this.#tail = options.tail
    this.#log = options.log
  }

  start(): void {
    this.#unsubscribe = this.#tail.subscribe(
      (facts) => this.#take(facts),
      () => {
        this.#toLookAt = 'all'
        this.#look()
      },
    )
    this.#look()
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.()
    this.#unsubscribe = null
    clearTimeout(this.#retry)
    await this.#looking
  }

  #take(facts: readonly CommittedFact[]): void {
    for (const { kind, hostId, data } of facts) {
      if (kind === 'host' && hostId !== null) {
        this.#watched.add(hostId)
        this.#note(hostId)
      } else if (kind === 'change' && data !== null) {
        const { ended, hosts } = data as ServiceFactData
        if (ended.length > 0) for (const host of hosts) if (this.#watched.has(host)) this.#note(host)
      }
    }
    if (this.#toLookAt === 'all' || this.#toLookAt.size > 0) this.#look()
  }

  #note(host: HostId): void {
    if (this.#toLookAt !== 'all') this.#toLookAt.add(host)
  }

  #look(): void {
    if (this.#unsubscribe === null || this.#looking !== null) return
    this.#looking = this.#lookAtAll().finally(() => {
      this.#looking = null
    })
  }

  async #lookAtAll(): Promise<void> {
    while (this.#unsubscribe !== null && (this.#toLookAt === 'all' || this.#toLookAt.size > 0)) {
      const hosts = this.#toLookAt === 'all' ? 'all' : [...this.#toLookAt]
      this.#toLookAt = new Set()
      try {
        await this.#lookAt(hosts)
      } catch (error) {
        this.#log.warn({ err: error }, 'It could not be looked up which hosts are drained: trying again.')
        if (hosts === 'all') this.#toLookAt = 'all'
        else for (const host of hosts) this.#note(host)
        if (this.#unsubscribe !== null) this.#retry = setTimeout(() => this.#look(), againAfterMillis)
        return
      }
    }
  }

  async #lookAt(hosts: readonly HostId[] | 'all'): Promise<void> {
    const drains = await readDrains(this.#database, hosts)
    if (hosts !== 'all') for (const host of hosts) if (!drains.some(({ id }) => id === host)) this.#forget(host)
    for (const { id } of drains) this.#watched.add(id)
    await Promise.all(drains.flatMap(({ id, empty }) => (empty ? [this.#committer.write({ kind: 'hostDrained', hostId: id })] : [])))
  }

  /** It is not being drained, unless a fact has come meanwhile that may say so. */
  #forget(host: HostId): void {
    if (this.#toLookAt !== 'all' && !this.#toLookAt.has(host)) this.#watched.delete(host)
  }
}
