import type { Meter } from '../model/metrics.ts'
import type { Clock } from '../store/database/clock.ts'
import type { Tail } from './tail.ts'

/** Counts the facts that the tail brings and how late they are, by the one clock. Returns the end of it. */
export function measureTail(tail: Pick<Tail, 'subscribe'>, clock: Clock, meter: Meter): () => void {
  return tail.subscribe(
    (facts) => {
      meter.count('facts', facts.length)
      const [oldest] = facts
      if (oldest) meter.observe('feedLagSeconds', Math.max(0, clock.now() - oldest.at) / 1000)
    },
    () => meter.count('factsLost'),
  )
}
