import type { App } from './controller/app.ts'
import type { Readers } from './http/metrics.ts'
import { countWaiting } from './store/countWaiting.ts'
import { countDue } from './store/readDue.ts'

/** Where a server's gauges are read. */
export function metricReaders({ database, committer, tail, feed }: App): Readers {
  const { counts } = feed
  return {
    revision: () => Number(tail.head),
    feedLive: () => (tail.live ? 1 : 0),
    subscribers: () => counts.subscribers,
    groups: () => counts.groups,
    topics: () => feed.topics,
    // A database that does not answer must not hide everything else.
    timersDue: () => countDue(database).catch(() => Number.NaN),
    waiting: () => countWaiting(database).catch(() => ({})),
    cached: () => committer.cache.size,
    frames: () => ({ group: counts.groupFrames, catchUp: counts.catchUpFrames }),
    delivered: () => counts.delivered,
    collapsed: () => counts.collapsed,
    cut: () => counts.cut,
    closed: () => counts.closed,
  }
}
