import type { Instant, Revision } from '../../model/id.ts'
import type { FactRetention } from '../../model/retention.ts'

/** The fact log as trimming sees it. */
export interface FactLog {
  readonly head: Revision
  /** Facts at or below the floor are trimmed. */
  readonly floor: Revision
  /**
   * Some of the facts that are kept, in any order. The floor moves to one of them, or to where the ceiling demands it.
   */
  readonly samples: readonly { readonly revision: Revision; readonly at: Instant }[]
}

/**
 * Where the floor should be (R16): below the newest `kept` facts and below everything younger than `keptSeconds`, but
 * never so low that more than `mostKept` facts are kept. The floor never goes down. For example, with 150,000 facts,
 * 100,000 to keep and only the first 20,000 older than 1 h, the floor is 20,000.
 */
export function nextFloor(
  { head, floor, samples }: FactLog,
  { kept, keptSeconds, mostKept }: FactRetention,
  now: Instant,
): Revision {
  const spared = head - BigInt(kept)
  const oldBefore = now - keptSeconds * 1000
  const demanded = head - BigInt(mostKept)
  let next = demanded > floor ? demanded : floor
  for (const { revision, at } of samples) if (revision <= spared && at < oldBefore && revision > next) next = revision
  return next
}
