import type { ReplicaId, Revision } from '../../model/id.ts'
import type { Reporter } from '../../model/intent.ts'
import type { Refusal } from '../../model/refusal.ts'
import { type Assignment, readAssignments } from '../../store/readAssignments.ts'
import { readAssignmentFacts } from '../../store/readListFacts.ts'
import type { App } from '../app.ts'
import type { LogRequest } from '../logRequests.ts'
import { FeedRefusal } from './feedRefusal.ts'
import type { FrameSource, Pulled } from './frameStream.ts'

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
 */
export function assignmentFrames(
  { feed, database, logRequests }: Pick<App, 'feed' | 'database' | 'logRequests'>,
  { workerId, hostId, epoch }: Reporter,
  after: Revision | null,
  wake: () => void,
): FrameSource<AssignmentFrame> {
  let subscription = feed.openHost(hostId, wake)
  let asked: LogRequest[] = []
  const unfollow = logRequests.follow(workerId, (request) => {
    if (asked.length < logRequestsKept) asked.push(request)
    wake()
  })
  const known = new Set<ReplicaId>()
  const parts: Pulled<AssignmentFrame>[] = []
  let cursor: Revision | null = null
  /** Where it begins while there is no cursor; null: with a SNAPSHOT. */
  let begins = after
  let isIdle = false
  const idle = setInterval(() => {
    isIdle = true
    wake()
  }, feed.bookmarkMillis)

  const requireEpoch = async () => {
    const worker = await database.prisma.worker.findUnique({ where: { id: workerId }, select: { epoch: true } })
    if (worker?.epoch !== epoch) throw new FeedRefusal(registeredAnew)
  }

  const frame = (kind: AssignmentFrame['kind'], revision: Revision, assignments: readonly Assignment[], removed: readonly ReplicaId[]) => {
    cursor = revision
    isIdle = false
    idle.refresh()
    for (const id of removed) known.delete(id)
    for (const { replicaId } of assignments) known.add(replicaId)
    for (let from = 0; from === 0 || from < assignments.length; from += assignmentsPerFrame) {
      const own = assignments.slice(from, from + assignmentsPerFrame)
      const last = from + assignmentsPerFrame >= assignments.length
      parts.push({ frame: { kind, revision, last, assignments: own, removed: last ? removed : [], logRequests: [] }, last: false })
    }
    return parts.shift() ?? null
  }

  const snapshot = async () => {
    await requireEpoch()
    const { revision, assignments } = await readAssignments(database, workerId, 'all')
    known.clear()
    return frame('SNAPSHOT', revision, assignments, [])
  }

  /** What may have changed since then is told, also what has ended meanwhile. */
  const resume = async (from: Revision) => {
    const read = await readAssignmentFacts(database, hostId, from)
    if (read === null) return snapshot()
    await requireEpoch()
    const { assignments } = await readAssignments(database, workerId, 'all')
    for (const { replicaId } of assignments) known.add(replicaId)
    const touched = new Set(read.facts.flatMap(({ replicas }) => replicas))
    const removed = [...touched].filter((id) => !known.has(id))
    const changed = assignments.filter(({ replicaId }) => touched.has(replicaId))
    cursor = read.head
    return touched.size === 0 ? null : frame('DELTA', read.head, changed, removed)
  }

  const changed = async (from: Revision): Promise<Pulled<AssignmentFrame> | null> => {
    if (subscription.topic.lost) {
      subscription.close()
      subscription = feed.openHost(hostId, wake)
      cursor = begins = null
      return snapshot()
    }
    const { topic } = subscription
    const { revision } = topic
    if (revision <= from) return null
    const changes = topic.since(from)
    if (changes === null) return snapshot()
    if (changes.some(({ change }) => change.registration)) await requireEpoch()
    const ids = [...new Set(changes.flatMap(({ change }) => change.replicas))]
    const { assignments } = ids.length === 0 ? { assignments: [] } : await readAssignments(database, workerId, ids)
    const present = new Set(assignments.map(({ replicaId }) => replicaId))
    const removed = ids.filter((id) => known.has(id) && !present.has(id))
    if (assignments.length > 0 || removed.length > 0) return frame('DELTA', revision, assignments, removed)
    cursor = revision
    return null
  }

  const pull = async (): Promise<Pulled<AssignmentFrame> | null> => {
    const next = parts.shift() ?? (cursor === null ? await (begins === null ? snapshot() : resume(begins)) : await changed(cursor))
    if (next !== null || cursor === null) return next
    if (asked.length > 0) {
      const requests = asked
      asked = []
      return { frame: { kind: 'DELTA', revision: cursor, last: true, assignments: [], removed: [], logRequests: requests }, last: false }
    }
    if (!isIdle) return null
    isIdle = false
    if (subscription.topic.revision <= cursor && cursor < feed.position) cursor = feed.position
    return { frame: { kind: 'BOOKMARK', revision: cursor, last: true, assignments: [], removed: [], logRequests: [] }, last: false }
  }

  return {
    pull,
    close: () => {
      clearInterval(idle)
      unfollow()
      subscription.close()
    },
  }
}

const registeredAnew: Refusal = {
  code: 'FENCED',
  message: 'This worker has registered anew: what has the old epoch must stop every replica and register again.',
}
