import type { Logger } from 'pino'
import { groupBy } from '../../../model/groupBy.ts'
import type { Revision, ServiceId, WorkerId } from '../../../model/id.ts'
import type { Meter } from '../../../model/metrics.ts'
import type { ServiceSnapshot } from '../../../model/service.ts'
import type { ServiceChange } from '../../../rules/draft/change.ts'
import type { Context } from '../../../rules/draft/context.ts'
import type { DatabaseClock } from '../../database/clock.ts'
import type { Database } from '../../database/database.ts'
import { databaseErrorOf, isNeverSent, notDone } from '../../database/databaseErrors.ts'
import { isTransient, type SqlError, sqlErrorOf, uniqueViolation } from '../../database/sqlError.ts'
import { loadSnapshots } from '../../read/snapshot.ts'
import { type IntentEntry, noTries, type ServiceEntry, serviceOf } from '../entry.ts'
import { fenced, nameTaken, notFound, workerSilent } from '../refusals.ts'
import { withFreeNames, withoutKnownKeys } from './admission.ts'
import { isWritten } from './batch.ts'
import { type Decision, foldCreation, foldIntents, remembersOf } from './fold.ts'
import { writeLocked } from './locked.ts'
import { type Precondition, preconditionsOf } from './preconditions.ts'
import { type Answer, BatchAbandoned, outcomeOfCutBatch, sendBatch } from './sendBatch.ts'
import type { SnapshotCache } from './snapshotCache.ts'

export interface ServiceWriterOptions {
  readonly database: Database
  readonly clock: DatabaseClock
  readonly newId: () => string
  readonly log: Logger
  readonly meter: Meter
  readonly cache: SnapshotCache
  /** How many versions and rollouts a service keeps when it gets another one; null is all. */
  readonly versionsKept: number | null
  /** Puts entries back in front of the queue. */
  readonly requeue: (entries: readonly ServiceEntry[]) => void
  readonly changed: (change: ServiceChange) => void
  readonly committed: (head: Revision) => void
  /** Says that the database has no room for a commit. */
  readonly full: () => void
  /** Says that the server stops, and should not wait for a database that is gone. */
  readonly isStopping: () => boolean
}

/** After this many stale answers optimism has failed, so the service is locked, loaded, decided on and written. */
const staleUntilLocked = 2
const mostTries = 20

/** Decides a batch of intents on the known state of their services, writes it with one statement, and answers. */
export class ServiceWriter {
  readonly #o: ServiceWriterOptions

  constructor(options: ServiceWriterOptions) {
    this.#o = options
  }

  async write(entries: readonly ServiceEntry[]): Promise<void> {
    const { database, requeue } = this.#o
    const fresh = await withoutKnownKeys(database, entries, requeue)
    const creations = await withFreeNames(
      database,
      fresh.filter((entry) => entry.kind === 'create'),
      requeue,
    )
    const groups = groupBy(
      fresh.filter((entry) => entry.kind === 'intent'),
      ({ id }) => id,
    )
    const locked = [...groups].filter(([, group]) => group.some(({ tries }) => tries.stale >= staleUntilLocked))
    for (const [id] of locked) groups.delete(id)
    const snapshots = await this.#loadSnapshots([...groups.keys()])
    const context = this.#newContext()
    const decisions: Decision[] = []
    for (const { entry, maxReplicas } of creations) {
      const decision = this.#foldSafely([entry], () => foldCreation(entry, maxReplicas, context))
      if (decision) decisions.push(decision)
    }
    for (const [id, group] of groups) {
      const snapshot = snapshots.get(id)
      const decision = snapshot
        ? this.#foldSafely(group, () => foldIntents(snapshot, group, context))
        : answerAll(group, (entry) => entry.resolve(notFound(id)))
      if (decision) decisions.push(decision)
    }
    if (decisions.length > 0) await this.#commitDecisions(decisions)
    for (const [id, group] of locked) await this.#commitLocked(id, group)
  }

  #newContext(): Context {
    return { now: this.#o.clock.now(), newId: this.#o.newId }
  }

  /** An error here is an error of the rules: its intents get it, and the rest of the batch goes on. */
  #foldSafely<T>(entries: readonly ServiceEntry[], fold: () => T): T | null {
    try {
      return fold()
    } catch (error) {
      this.#o.log.error({ err: error, service: entries[0] && serviceOf(entries[0]) }, 'The rules failed on an intent.')
      answerAll(entries, (entry) => entry.reject(error))
      return null
    }
  }

  /**
   * Returns the known states of the services, without deleted ones. It includes those that the cache loses while others
   * are read (because of another server's fact, or its bound), because they must not look as if they did not exist.
   */
  async #loadSnapshots(ids: readonly ServiceId[]): Promise<ReadonlyMap<ServiceId, ServiceSnapshot>> {
    const { cache, database } = this.#o
    const known = new Map<ServiceId, ServiceSnapshot>()
    for (const id of ids) {
      const snapshot = cache.get(id)
      if (snapshot) known.set(id, snapshot)
    }
    const missing = ids.filter((id) => !known.has(id))
    if (missing.length === 0) return known
    for (const snapshot of (await loadSnapshots(database.prisma, missing)).values()) {
      cache.set(snapshot)
      if (snapshot.columns.deletedAt === null) known.set(snapshot.id, snapshot)
    }
    return known
  }

  async #commitDecisions(decisions: readonly Decision[]): Promise<void> {
    const { database, clock, newId, meter, isStopping } = this.#o
    const id = newId()
    const items = decisions.map((decision) => ({ change: decision.change, remember: remembersOf(decision) }))
    const sentAt = clock.mark()
    try {
      const answer = await sendBatch(database.prisma, clock, id, items, this.#o.versionsKept)
      meter.observe('commitSeconds', (clock.mark() - sentAt) / 1000)
      meter.observe('commitServices', items.length)
      this.#applyAnswer(decisions, answer)
    } catch (error) {
      const refused = sqlErrorOf(error)
      meter.count('commitErrors', 1, refused === null ? 'cut' : refused.state)
      if (isNeverSent(error)) throw error
      if (refused === null) {
        await this.#recoverOutcome(decisions, () => outcomeOfCutBatch(database, id, error, isStopping))
      } else if (databaseErrorOf(error) !== null) {
        this.#failAll(decisions.flatMap(entriesOf), error)
      } else if (decisions.length > 1) {
        const half = Math.ceil(decisions.length / 2)
        await this.#commitDecisions(decisions.slice(0, half))
        await this.#commitDecisions(decisions.slice(half))
      } else {
        for (const decision of decisions) this.#answerRefused(decision, refused, error)
      }
    }
  }

  async #recoverOutcome(decisions: readonly Decision[], outcome: () => Promise<Answer>): Promise<void> {
    try {
      this.#applyAnswer(decisions, await outcome())
    } catch (error) {
      for (const decision of decisions) {
        if (error instanceof BatchAbandoned) {
          this.#retryEntries(entriesOf(decision), error)
          continue
        }
        // The batch may be committed already, or be about to be.
        this.#o.cache.drop(decision.id)
        answerAll(entriesOf(decision), (entry) => entry.reject(error))
      }
    }
  }

  async #commitLocked(id: ServiceId, entries: readonly IntentEntry[]): Promise<void> {
    const { database, clock, newId, cache, isStopping } = this.#o
    cache.drop(id)
    const batchId = newId()
    // What was decided under the lock, in case the commit's outcome has to be asked for.
    const decided: Decision[] = []
    const decideOn = (snapshot: ServiceSnapshot | undefined) => {
      if (!snapshot || snapshot.columns.deletedAt !== null) return null
      const decision = foldIntents(snapshot, entries, this.#newContext())
      decided.push(decision)
      return decision
    }
    try {
      const answer = await writeLocked({
        database,
        clock,
        batchId,
        id,
        entries,
        versionsKept: this.#o.versionsKept,
        decideOn,
      })
      if (answer) this.#applyAnswer(decided, answer)
      else answerAll(entries, (entry) => entry.resolve(notFound(id)))
    } catch (error) {
      const isRefused = sqlErrorOf(error) !== null
      const isDatabaseError = databaseErrorOf(error) !== null
      // It came to no decision, and the database may answer in a moment.
      if (!isRefused && isDatabaseError && decided.length === 0) throw error
      if (isRefused && isDatabaseError) this.#failAll(entries, error)
      else if (isRefused || decided.length === 0) this.#retryEntries(entries, error)
      else await this.#recoverOutcome(decided, () => outcomeOfCutBatch(database, batchId, error, isStopping))
    }
  }

  /** Answers the entries by what the database said, and keeps the states that are now known. */
  #applyAnswer(decisions: readonly Decision[], answer: Answer): void {
    this.#o.meter.count('commits')
    for (const verdict of answer.refused.values()) this.#o.meter.count('conflicts', 1, verdict)
    let revision = answer.base ?? 0n
    for (const [ord, decision] of decisions.entries()) {
      switch (answer.refused.get(ord)) {
        case undefined:
          this.#answerAccepted(decision, revision)
          revision += BigInt(decision.change.facts.length)
          break
        case 'stale':
          this.#requeueStale(decision)
          break
        case 'fenced':
          this.#answerFenced(decision, answer.fenced.get(ord) ?? [])
          break
        case 'precondition':
          this.#dropUnmet(decision, answer.preconditions.get(ord) ?? [])
          break
        case 'quota':
          this.#dropGrants(decision)
          break
      }
    }
    if (answer.head !== null) this.#o.committed(answer.head)
  }

  #answerAccepted({ change, answered, deferred }: Decision, before: Revision): void {
    if (isWritten(change)) {
      const { next, facts, specFact, created } = change
      const spec = specFact ?? (created ? facts.length : null)
      this.#o.cache.set({
        ...next,
        guard: change.guard + 1,
        revision: facts.length > 0 ? before + BigInt(facts.length) : next.revision,
        specRevision: spec === null ? next.specRevision : before + BigInt(spec),
      })
      this.#o.changed(change)
    }
    const unfinished: ServiceEntry[] = []
    for (const { entry, outcome } of answered) {
      if (outcome.kind === 'unfinished') unfinished.push(entry)
      else entry.resolve(outcome)
    }
    for (const { tries } of unfinished) Object.assign(tries, noTries)
    this.#o.requeue([...unfinished, ...deferred])
  }

  #requeueStale(decision: Decision): void {
    this.#o.cache.drop(decision.id)
    const entries = entriesOf(decision)
    for (const { tries } of entries) tries.stale++
    this.#o.meter.count('retries', entries.length)
    this.#o.requeue(entries)
  }

  #answerFenced(decision: Decision, workers: readonly WorkerId[]): void {
    const [out, rest] = split(entriesOf(decision), (entry) => {
      const reporter = entry.kind === 'intent' && 'reporter' in entry.intent ? entry.intent.reporter : null
      if (reporter === null || !workers.includes(reporter.workerId)) return false
      entry.resolve(fenced(reporter))
      return true
    })
    this.#retryEntries(rest, new Error(`The reports of ${decision.id} were fenced, ${out.length} of them by name.`))
  }

  /** Grants that lost a race are not failures: placement looks at the present state and tries again. */
  #dropGrants(decision: Decision): void {
    const [out, rest] = split(entriesOf(decision), (entry) => {
      if (entry.kind !== 'intent' || entry.intent.kind !== 'grant') return false
      entry.resolve({ kind: 'done', changed: false })
      return true
    })
    this.#retryEntries(rest, new Error(`The grants of ${decision.id} were refused, ${out.length} of them.`))
  }

  /**
   * Hosts or workers are not in the state that these intents assumed. Whoever sent them looks at the present state.
   * Deferred intents assume other states.
   */
  #dropUnmet(decision: Decision, unmet: readonly Precondition[]): void {
    this.#o.requeue(decision.deferred)
    const decided = decision.answered.map(({ entry }) => entry)
    const [out, rest] = split(decided, (entry) => {
      if (
        entry.kind !== 'intent' ||
        !preconditionsOf(entry.intent).some((precondition) => unmet.includes(precondition))
      )
        return false
      entry.resolve(
        entry.intent.kind === 'report' ? workerSilent(entry.intent.reporter) : { kind: 'done', changed: false },
      )
      return true
    })
    this.#retryEntries(rest, new Error(`Workers of ${decision.id} have changed, for ${out.length} of its intents.`))
  }

  /** No service's part was at fault: the database accepts nothing now. */
  #failAll(entries: readonly ServiceEntry[], error: unknown): void {
    if (databaseErrorOf(error) === 'FULL') this.#o.full()
    this.#o.log.warn({ err: error, intents: entries.length }, 'The database takes no commits now.')
    answerAll(entries, (entry) => entry.reject(notDone(error)))
  }

  /** The database refused the statement of this one service as a whole. */
  #answerRefused(decision: Decision, { state, constraint }: SqlError, error: unknown): void {
    const entries = entriesOf(decision)
    const isUnique = state === uniqueViolation
    if (isTransient(state) || (isUnique && constraint === 'IdempotencyKey_pkey')) {
      // Another server used the key first. The next look-up finds its answer.
      this.#retryEntries(entries, error)
    } else if (isUnique && constraint === 'HostPort_pkey') {
      this.#dropGrants(decision)
    } else if (isUnique && constraint === 'Service_projectId_heldName_key') {
      for (const entry of entries) if (entry.kind === 'create') entry.resolve(nameTaken(entry.service))
    } else {
      this.#o.cache.drop(decision.id)
      this.#o.log.error({ err: error, service: decision.id }, 'The database refused the commit of a service.')
      answerAll(entries, (entry) => entry.reject(error))
    }
  }

  #retryEntries(entries: readonly ServiceEntry[], reason: unknown): void {
    const [tired, fit] = split(entries, ({ tries }) => ++tries.again > mostTries)
    this.#o.meter.count('retries', fit.length)
    answerAll(tired, (entry) => entry.reject(reason))
    this.#o.requeue(fit)
  }
}

function entriesOf({ answered, deferred }: Decision): ServiceEntry[] {
  return [...answered.map(({ entry }) => entry), ...deferred]
}

function answerAll<E>(entries: readonly E[], answer: (entry: E) => void): null {
  for (const entry of entries) answer(entry)
  return null
}

function split<E>(entries: readonly E[], isFirst: (entry: E) => boolean): [E[], E[]] {
  const parts: [E[], E[]] = [[], []]
  for (const entry of entries) parts[isFirst(entry) ? 0 : 1].push(entry)
  return parts
}
