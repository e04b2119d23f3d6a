import type { Meter } from '../model/metrics.ts'
import type { Clock } from '../store/database/clock.ts'
import type { Tail } from './tail.ts'

/** Measures how many facts the tail brings and how late they are by the database's clock. Call what it returns to end it. */
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
