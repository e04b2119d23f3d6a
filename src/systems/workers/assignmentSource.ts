import { FeedRefusal } from '../../feed/feedRefusal.ts'
import { partsOf } from '../../feed/follower.ts'
import type { FrameSource, Pulled } from '../../feed/frameStream.ts'
import type { ReplicaId, Revision } from '../../model/id.ts'
import type { Reporter } from '../../model/intent.ts'
import type { Refusal } from '../../model/refusal.ts'
import { type Assignment, readAssignments } from '../../store/read/readAssignments.ts'
import { readAssignmentFacts } from '../../store/read/readListFacts.ts'
import type { LogRequest } from '../logs/logText.ts'
import type { ServerContext } from '../serverContext.ts'

/** What a worker should run. */
export interface AssignmentFrame {
  readonly kind: 'SNAPSHOT' | 'DELTA' | 'BOOKMARK'
  readonly revision: Revision
  /** The final part. */
  readonly last: boolean
  readonly assignments: readonly Assignment[]
  /** Replicas that are no longer this worker's. */
  readonly removed: readonly ReplicaId[]
  readonly logRequests: readonly LogRequest[]
}

/** Assignments in one frame. */
const assignmentsPerFrame = 500
/** Requests for logs that wait for one worker; who asks beyond that gets no answer. */
const logRequestsKept = 256

/**
 * Follows the assignments of a worker: a SNAPSHOT, or what changed since `after`, then what changes, read when it is sent. Facts name hosts, so what
 * concerns another worker of the host wakes it too, and is none of its rows. It ends with FENCED when the worker has registered anew.
 *
 * States: beginning (no cursor: a SNAPSHOT, or what came after `begins`) → following (everything up to `cursor` is told, or waits in `parts`). Facts that
 * were missed begin it anew.
 */
export class AssignmentSource implements FrameSource<AssignmentFrame> {
  readonly #app: Pick<ServerContext, 'feed' | 'database'>
  readonly #reporter: Reporter
  readonly #wake: () => void
  readonly #unfollow: () => void
  readonly #idle: NodeJS.Timeout
  #subscription: ReturnType<ServerContext['feed']['openHost']>
  #asked: LogRequest[] = []
  #isIdle = false
  /** What the worker was told that is its own. */
  readonly #known = new Set<ReplicaId>()
  /** Of a frame that is made, and not yet sent. */
  #parts: AssignmentFrame[] = []
  #cursor: Revision | null = null
  /** Where it begins while there is no cursor; null: with a SNAPSHOT. */
  #begins: Revision | null

  constructor(
    app: Pick<ServerContext, 'feed' | 'database' | 'logRequests'>,
    reporter: Reporter,
    after: Revision | null,
    wake: () => void,
  ) {
    this.#app = app
    this.#reporter = reporter
    this.#begins = after
    this.#wake = wake
    this.#subscription = app.feed.openHost(reporter.hostId, wake)
    this.#unfollow = app.logRequests.follow(reporter.workerId, (request) => {
      if (this.#asked.length < logRequestsKept) this.#asked.push(request)
      wake()
    })
    this.#idle = setInterval(() => {
      this.#isIdle = true
      wake()
    }, app.feed.bookmarkMillis)
  }

  async pull(): Promise<Pulled<AssignmentFrame> | null> {
    if (this.#parts.length === 0) await this.#read()
    const frame = this.#parts.shift() ?? this.#aside()
    return frame && { frame, last: false }
  }

  close(): void {
    clearInterval(this.#idle)
    this.#unfollow()
    this.#subscription.close()
  }

  /** Puts what is new into parts. */
  #read(): Promise<void> {
    if (this.#cursor !== null) return this.#readChanges(this.#cursor)
    return this.#begins === null ? this.#readAll() : this.#readSince(this.#begins)
  }

  async #readAll(): Promise<void> {
    await this.#requireEpoch()
    const { revision, assignments } = await this.#assignments('all')
    this.#known.clear()
    this.#tell('SNAPSHOT', revision, assignments, [])
  }

  /**
   * Tells what changed after `from`, also what has ended since. The assignments are read first: the facts that follow
   * them in the log are told later, from memory, so nothing that ends between the two readings is missed.
   */
  async #readSince(from: Revision): Promise<void> {
    await this.#requireEpoch()
    const { revision, assignments } = await this.#assignments('all')
    const read = await readAssignmentFacts(this.#app.database, this.#reporter.hostId, from)
    if (read === null || from > revision) return this.#readAll()
    for (const { replicaId } of assignments) this.#known.add(replicaId)
    const told = read.facts.filter((fact) => fact.revision <= revision)
    const touched = new Set(told.flatMap(({ replicas }) => replicas))
    const removed = [...touched].filter((id) => !this.#known.has(id))
    const changed = assignments.filter(({ replicaId }) => touched.has(replicaId))
    if (touched.size > 0) this.#tell('DELTA', revision, changed, removed)
    else this.#cursor = revision
  }

  async #readChanges(from: Revision): Promise<void> {
    if (this.#subscription.topic.lost) return this.#beginAnew()
    const { topic } = this.#subscription
    const { revision } = topic
    if (revision <= from) return
    const changes = topic.since(from)
    if (changes === null) return this.#readAll()
    const touched = new Set(changes.flatMap(({ change }) => change.replicas))
    // What a LOST worker has is hidden from it, so that its return brings back what no fact names.
    const all = changes.some(({ change }) => change.registration)
    if (all) await this.#requireEpoch()
    const { assignments: read } =
      all || touched.size > 0 ? await this.#assignments(all ? 'all' : [...touched]) : { assignments: [] }
    const present = new Set(read.map(({ replicaId }) => replicaId))
    const assignments = read.filter(({ replicaId }) => touched.has(replicaId) || !this.#known.has(replicaId))
    const removed = [...(all ? this.#known : touched)].filter((id) => this.#known.has(id) && !present.has(id))
    if (assignments.length > 0 || removed.length > 0) this.#tell('DELTA', revision, assignments, removed)
    else this.#cursor = revision
  }

  #beginAnew(): Promise<void> {
    this.#subscription.close()
    this.#subscription = this.#app.feed.openHost(this.#reporter.hostId, this.#wake)
    this.#cursor = this.#begins = null
    return this.#readAll()
  }

  #tell(
    kind: 'SNAPSHOT' | 'DELTA',
    revision: Revision,
    assignments: readonly Assignment[],
    removed: readonly ReplicaId[],
  ): void {
    this.#cursor = revision
    this.#isIdle = false
    this.#idle.refresh()
    for (const id of removed) this.#known.delete(id)
    for (const { replicaId } of assignments) this.#known.add(replicaId)
    this.#parts = partsOf(assignments, assignmentsPerFrame).map(({ part, last }) => {
      return { kind, revision, last, assignments: part, removed: last ? removed : [], logRequests: [] }
    })
  }

  /** What is told when no assignment has changed: requests for logs, or that all is quiet. */
  #aside(): AssignmentFrame | null {
    if (this.#cursor === null) return null
    const empty = { last: true, assignments: [], removed: [] } as const
    if (this.#asked.length > 0) {
      const logRequests = this.#asked
      this.#asked = []
      return { ...empty, kind: 'DELTA', revision: this.#cursor, logRequests }
    }
    if (!this.#isIdle) return null
    this.#isIdle = false
    const { position } = this.#app.feed
    if (this.#subscription.topic.revision <= this.#cursor && this.#cursor < position) this.#cursor = position
    return { ...empty, kind: 'BOOKMARK', revision: this.#cursor, logRequests: [] }
  }

  #assignments(which: 'all' | readonly ReplicaId[]) {
    return readAssignments(this.#app.database, this.#reporter.workerId, which)
  }

  async #requireEpoch(): Promise<void> {
    const { workerId: id, epoch } = this.#reporter
    const worker = await this.#app.database.prisma.worker.findUnique({ where: { id }, select: { epoch: true } })
    if (worker?.epoch !== epoch) throw new FeedRefusal(registeredAnew)
  }
}

const registeredAnew: Refusal = {
  code: 'FENCED',
  message: 'This worker has registered anew: what has the old epoch must stop every replica and register again.',
}
