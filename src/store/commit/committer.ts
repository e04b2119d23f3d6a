import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { intentsPerCommit } from '../../model/bounds.ts'
import type { Room } from '../../model/host.ts'
import type { Revision, ServiceId } from '../../model/id.ts'
import type { NewService, ServiceIntent } from '../../model/intent.ts'
import { type Meter, noMeter } from '../../model/metrics.ts'
import type { ServiceChange } from '../../rules/draft/change.ts'
import type { DatabaseClock } from '../database/clock.ts'
import type { Database } from '../database/database.ts'
import { DatabaseError, databaseErrorOf, notDone, patienceMillis } from '../database/databaseErrors.ts'
import { writeCluster } from './cluster/clusterWriter.ts'
import { type ClusterEntry, type Entry, noTries, type ServiceEntry } from './entry.ts'
import type { ClusterChange, ClusterOutcome, Remember, StoreOutcome } from './outcome.ts'
import { ServiceWriter } from './services/serviceWriter.ts'
import { SnapshotCache } from './services/snapshotCache.ts'

export interface CommitterOptions {
  readonly database: Database
  readonly clock: DatabaseClock
  /** Returns a new id at each call. */
  readonly newId: () => string
  readonly log: Logger
  readonly meter?: Meter
  /** How many versions and rollouts a service keeps when it gets another one; all if left out. */
  readonly versionsKept?: number
  /** Gets each change of a service that this server has committed. */
  readonly onChanged?: (change: ServiceChange) => void
}

/** Only a writer notices a full disk. It counts as full for this long after the last refusal. */
const fullForMillis = 15_000

/**
 * The one way into the database for everything that makes facts. It takes all waiting entries together (the next batch
 * gathers while one is on its way), decides them on cached snapshots, and writes them with one statement. A promise
 * resolves when its commit is certain.
 */
export class Committer {
  /** Snapshots of services, by their last use here. The tail drops those that other servers changed. */
  readonly cache = new SnapshotCache()
  readonly #database: Database
  readonly #log: Logger
  readonly #clock: DatabaseClock
  readonly #newId: () => string
  readonly #meter: Meter
  readonly #writer: ServiceWriter
  readonly #listeners = new Set<(head: Revision) => void>()
  /** Entries that are neither answered nor given up. */
  readonly #open = new Set<Entry>()
  #queue: Entry[] = []
  #running: Promise<void> | null = null
  #stopping = false
  #fullAt: number | null = null

  constructor({ database, clock, newId, log, meter = noMeter, versionsKept, onChanged }: CommitterOptions) {
    this.#database = database
    this.#clock = clock
    this.#newId = newId
    this.#meter = meter
    this.#log = log
    this.#writer = new ServiceWriter({
      database,
      clock,
      newId,
      log,
      meter,
      cache: this.cache,
      versionsKept: versionsKept ?? null,
      requeue: (entries) => this.#requeue(entries),
      changed: (change) => onChanged?.(change),
      committed: (head) => this.#announceHead(head),
      full: () => this.#markFull(),
      isStopping: () => this.#stopping,
    })
  }

  /**
   * Takes an intent for a service. NOT_FOUND refuses it when the service does not exist or is gone. When `room` is given,
   * replicas that begin to wait have the real reason from this commit on.
   */
  submit(
    id: ServiceId,
    intent: ServiceIntent,
    remember: Remember | null = null,
    room: Room | null = null,
  ): Promise<StoreOutcome> {
    return this.#enqueue((settle) => ({ kind: 'intent', id, intent, remember, room, tries: { ...noTries }, ...settle }))
  }

  /**
   * Creates a service. NAME_TAKEN refuses it when its project has the name already, QUOTA_EXCEEDED when the project
   * could never hold it.
   */
  create(
    service: NewService,
    actor: string,
    remember: Remember | null = null,
    room: Room | null = null,
  ): Promise<StoreOutcome> {
    return this.#enqueue((settle) => ({
      kind: 'create',
      service,
      actor,
      remember,
      room,
      tries: { ...noTries },
      ...settle,
    }))
  }

  /** Writes a change that is not about a service. */
  write(change: ClusterChange, remember: Remember | null = null): Promise<ClusterOutcome> {
    return this.#enqueue((settle) => ({ kind: 'clusterWrite', change, remember, ...settle }))
  }

  /** Calls back with each head that a commit of this server made, until the returned function is called. */
  onCommitted(listener: (head: Revision) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Says whether the last commit was refused a moment ago because the disk was full. */
  get isFull(): boolean {
    return this.#fullAt !== null && performance.now() - this.#fullAt < fullForMillis
  }

  /** Takes nothing new, and resolves when everything that waits is answered. */
  async stop(): Promise<void> {
    this.#stopping = true
    await this.#running
  }

  #enqueue<Outcome>(
    entryOf: (settle: { resolve(outcome: Outcome): void; reject(error: unknown): void }) => Entry,
  ): Promise<Outcome> {
    if (this.#stopping)
      return Promise.reject(
        new Error('The server is stopping and takes no more changes: send it again to another one, or later.'),
      )
    return new Promise<Outcome>((resolve, reject) => {
      const entry = entryOf({
        resolve: (outcome) => {
          this.#open.delete(entry)
          resolve(outcome)
        },
        reject: (error) => {
          this.#open.delete(entry)
          reject(error)
        },
      })
      this.#open.add(entry)
      this.#queue.push(entry)
      this.#running ??= this.#writeBatches()
    })
  }

  #requeue(entries: readonly Entry[]): void {
    if (entries.length > 0) this.#queue = [...entries, ...this.#queue]
  }

  #markFull(): void {
    this.#fullAt = performance.now()
  }

  #announceHead(head: Revision): void {
    this.#fullAt = null
    for (const listener of this.#listeners) listener(head)
  }

  async #writeBatches(): Promise<void> {
    // Entries that arrive in this turn of the event loop belong to the first batch. PGlite answers in microtasks, so
    // without a turn between batches timers and sockets would starve.
    await nextTurn()
    let failures = 0
    let failingSince = 0
    while (this.#queue.length > 0) {
      const taken = this.#takeBatch()
      try {
        if (await this.#database.isFull())
          this.#refuseForRoom(taken.kind === 'clusterWrite' ? [taken.entry] : taken.entries)
        else if (taken.kind === 'clusterWrite') await this.#writeCluster(taken.entry)
        else await this.#writer.write(taken.entries)
        failures = 0
      } catch (error) {
        // The database did not answer, and nothing was sent to be written.
        failures++
        if (failures === 1) failingSince = performance.now()
        const isTooLate = performance.now() - failingSince > patienceMillis
        const queued = new Set(this.#queue)
        const unsettled =
          taken.kind === 'services' ? taken.entries.filter((entry) => this.#open.has(entry) && !queued.has(entry)) : []
        this.#log.warn({ err: error, failures }, 'The database could not be read before a commit.')
        if (isTooLate || this.#stopping) for (const entry of unsettled) entry.reject(notDone(error))
        else this.#requeue(unsettled)
        await wait(Math.min(2_000, 10 * 2 ** failures))
      }
      if (this.#database.kind === 'embedded') await nextTurn()
    }
    this.#running = null
  }

  #refuseForRoom(entries: readonly Entry[]): void {
    this.#markFull()
    for (const entry of entries) entry.reject(new DatabaseError('FULL', 'NOT_DONE'))
  }

  async #writeCluster(entry: ClusterEntry): Promise<void> {
    try {
      const writer = {
        database: this.#database,
        clock: this.#clock,
        newId: this.#newId,
        meter: this.#meter,
        isStopping: () => this.#stopping,
      }
      const head = await writeCluster(writer, entry)
      if (head !== null) this.#announceHead(head)
    } catch (error) {
      if (databaseErrorOf(error) === 'FULL') this.#markFull()
      entry.reject(notDone(error))
    }
  }

  /** Takes the next batch: one cluster write, or all intents before the next cluster write. */
  #takeBatch(): { kind: 'clusterWrite'; entry: ClusterEntry } | { kind: 'services'; entries: ServiceEntry[] } {
    const entries: ServiceEntry[] = []
    for (const entry of this.#queue) {
      if (entries.length === intentsPerCommit) break
      if (entry.kind === 'clusterWrite') {
        if (entries.length > 0) break
        this.#queue.shift()
        return { kind: 'clusterWrite', entry }
      }
      entries.push(entry)
    }
    this.#queue.splice(0, entries.length)
    return { kind: 'services', entries }
  }
}
