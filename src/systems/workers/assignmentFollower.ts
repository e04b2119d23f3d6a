import type { Entry } from '../../feed/changeLog.ts'
import type { HostTopicChange } from '../../feed/feed.ts'
import { FeedRefusal } from '../../feed/feedRefusal.ts'
import { type Follower, type OpenFollower, partsOf, type Recalled } from '../../feed/follower.ts'
import type { ReplicaId, Revision } from '../../model/id.ts'
import type { Reporter } from '../../model/intent.ts'
import type { Refusal } from '../../model/refusal.ts'
import { type Assignment, readAssignments } from '../../store/read/readAssignments.ts'
import { readAssignmentFacts } from '../../store/read/readListFacts.ts'
import type { LogRequest } from '../logs/logRelay.ts'
import type { WorkersContext } from './workersContext.ts'

/** What a worker should run. */
export interface AssignmentFrame {
  readonly kind: 'SNAPSHOT' | 'DELTA' | 'BOOKMARK'
  readonly revision: Revision
  /** Whether this is the final part. */
  readonly last: boolean
  readonly assignments: readonly Assignment[]
  /** Replicas that no longer belong to this worker. */
  readonly removed: readonly ReplicaId[]
  readonly logRequests: readonly LogRequest[]
}

/** A frame before its assignments are read. */
interface UnreadFrame extends AssignmentFrame {
  /** The interval of a DELTA begins here. */
  readonly from: Revision
  /** Replicas that the facts of the interval name. */
  readonly touched: readonly ReplicaId[]
  /** The host or one of its workers changed, so that more may have changed than the facts name. */
  readonly registration: boolean
}

type Parts = Pick<WorkersContext, 'feed' | 'database' | 'logRequests'>

/** One frame has at most this many assignments. */
const assignmentsPerFrame = 500
/** At most this many requests for logs wait for one worker; a reader beyond that gets no answer. */
const logRequestsKept = 256

/**
 * Follows the assignments of a worker. They are read when a frame is made. Facts name hosts, so a change that concerns
 * another worker of the host wakes this follower too, and none of its rows is told. A worker that has registered again
 * ends the subscription with FENCED.
 */
export function assignmentFollower(parts: Parts, reporter: Reporter): OpenFollower<AssignmentFrame, HostTopicChange> {
  return (wake) => new AssignmentFollower(parts, reporter, wake)
}

class AssignmentFollower implements Follower<AssignmentFrame, HostTopicChange> {
  readonly goneAt = null
  readonly #parts: Parts
  readonly #reporter: Reporter
  readonly #subscription: ReturnType<WorkersContext['feed']['openHost']>
  readonly #unfollow: () => void
  #asked: LogRequest[] = []
  /** The replicas that the worker was told to run; null until assignments were read. */
  #known: Set<ReplicaId> | null = null
  /** `#known` says nothing of what ended before this revision. */
  #knownSince: Revision = 0n

  constructor(parts: Parts, reporter: Reporter, wake: () => void) {
    this.#parts = parts
    this.#reporter = reporter
    this.#subscription = parts.feed.openHost(reporter.hostId, wake)
    this.#unfollow = parts.logRequests.follow(reporter.workerId, (request) => {
      if (this.#asked.length < logRequestsKept) this.#asked.push(request)
      wake()
    })
  }

  begin(): Promise<void> {
    return this.#requireEpoch()
  }

  get revision(): Revision {
    return this.#parts.feed.position
  }

  get lost(): boolean {
    return this.#subscription.topic.lost
  }

  remembers(cursor: Revision): boolean {
    return this.since(cursor) !== null
  }

  since(cursor: Revision): readonly Entry<HostTopicChange>[] | null {
    return this.#subscription.topic.since(cursor)
  }

  async recall(cursor: Revision): Promise<Recalled<HostTopicChange> | null> {
    const read = await readAssignmentFacts(this.#parts.database, this.#reporter.hostId, cursor)
    if (read === null) return null
    const changes = read.facts.map(({ revision, replicas }) => ({
      revision,
      change: { replicas, registration: false },
    }))
    return { head: read.head, changes }
  }

  snapshot(): UnreadFrame {
    return { ...this.#empty('SNAPSHOT', this.revision), registration: true }
  }

  delta(from: Revision, changes: readonly Entry<HostTopicChange>[]): UnreadFrame {
    return {
      ...this.#empty('DELTA', changes.at(-1)?.revision ?? this.revision),
      from,
      touched: [...new Set(changes.flatMap(({ change }) => change.replicas))],
      registration: changes.some(({ change }) => change.registration),
    }
  }

  aside(revision: Revision): UnreadFrame | null {
    if (this.#asked.length === 0) return null
    const logRequests = this.#asked
    this.#asked = []
    return { ...this.#empty('DELTA', revision), logRequests }
  }

  bookmark(revision: Revision): UnreadFrame {
    return this.#empty('BOOKMARK', revision)
  }

  gone(revision: Revision): UnreadFrame {
    return this.bookmark(revision)
  }

  async expand(frame: UnreadFrame): Promise<readonly AssignmentFrame[]> {
    if (frame.kind === 'BOOKMARK' || frame.logRequests.length > 0) return [frame]
    if (frame.registration) await this.#requireEpoch()
    const { kind, from, touched, registration } = frame
    const known = this.#known
    const { database } = this.#parts
    const which = registration || known === null ? 'all' : touched
    const { revision, assignments: read } = await readAssignments(database, this.#reporter.workerId, which)
    if (known === null) this.#knownSince = revision
    const present = new Set(read.map(({ replicaId }) => replicaId))
    const named = new Set(touched)
    // A LOST worker is told of nothing it has, so at its return it is told of what no fact names.
    const isTold = (id: ReplicaId) =>
      kind === 'SNAPSHOT' || named.has(id) || (registration && known !== null && !known.has(id))
    const assignments = read.filter(({ replicaId }) => isTold(replicaId))
    // What ended before the assignments were first read may still run there.
    const mayRun = (id: ReplicaId) => known === null || from < this.#knownSince || known.has(id)
    const gone = registration ? new Set([...(known ?? []), ...named]) : named
    const removed = kind === 'SNAPSHOT' ? [] : [...gone].filter((id) => !present.has(id) && mayRun(id))
    this.#remember(present, gone)
    if (kind === 'DELTA' && assignments.length + removed.length === 0) return []
    return partsOf(assignments, assignmentsPerFrame).map(({ part, last }) => ({
      ...frame,
      last,
      assignments: part,
      removed: last ? removed : [],
    }))
  }

  close(): void {
    this.#unfollow()
    this.#subscription.close()
  }

  #remember(present: ReadonlySet<ReplicaId>, gone: ReadonlySet<ReplicaId>): void {
    this.#known ??= new Set()
    for (const id of gone) if (!present.has(id)) this.#known.delete(id)
    for (const id of present) this.#known.add(id)
  }

  #empty(kind: AssignmentFrame['kind'], revision: Revision): UnreadFrame {
    const nothing = { assignments: [], removed: [], logRequests: [], touched: [] }
    return { kind, revision, from: revision, last: true, registration: false, ...nothing }
  }

  async #requireEpoch(): Promise<void> {
    const { workerId: id, epoch } = this.#reporter
    const worker = await this.#parts.database.prisma.worker.findUnique({ where: { id }, select: { epoch: true } })
    if (worker?.epoch !== epoch) throw new FeedRefusal(registeredAgain)
  }
}

const registeredAgain: Refusal = {
  code: 'FENCED',
  message: 'This worker has registered again: what has the old epoch must stop every replica and register again.',
}
