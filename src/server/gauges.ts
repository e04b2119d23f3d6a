import type { Readers } from '../http/metrics.ts'
import { countDue, countHosts, countWaiting } from '../store/read/counts.ts'
import type { ServerContext } from '../systems/serverContext.ts'

type Counts = Readonly<Record<string, number>>

/** Reads the current value of each of a server's gauges. */
export function gaugeReaders({ database, committer, tail, feed }: ServerContext): Readers {
  const { counts } = feed
  return {
    revision: () => Number(tail.head),
    feedLive: () => (tail.live ? 1 : 0),
    subscribers: () => counts.subscribers,
    groups: () => counts.groups,
    waitingBytes: () => feed.waiting.bytes,
    topics: () => feed.topics,
    // A database that does not answer must not hide the other gauges.
    timersDue: () => countDue(database).catch(() => Number.NaN),
    waiting: perRevision(tail, () => countWaiting(database)),
    hosts: perRevision(tail, () => countHosts(database)),
    cached: () => committer.cache.size,
    frames: () => ({ group: counts.groupFrames, catchUp: counts.catchUpFrames }),
    delivered: () => counts.delivered,
    collapsed: () => counts.collapsed,
    cut: () => counts.cut,
    closed: () => counts.closed,
  }
}

/** Counts once per revision, because only facts change these counts; however often they are read, it is one query. */
function perRevision(tail: ServerContext['tail'], count: () => Promise<Counts>): () => Promise<Counts> {
  let at: bigint | null = null
  let counted: Promise<Counts> = Promise.resolve({})
  return () => {
    if (at !== tail.head) {
      at = tail.head
      counted = count().catch(() => {
        at = null
        return {}
      })
    }
    return counted
  }
}
