import type { BlockReason } from '../generated/prisma/enums.ts'
import type { Instant, ReplicaId } from './id.ts'

/** The reason something waits, as a value with a message. "Not now" is a blocker, never an absence. */
export interface Blocker {
  readonly reason: BlockReason
  /** A sentence: what waits, for what, and what would help. */
  readonly message: string
  /** Replicas it holds. */
  readonly count: number
  readonly since: Instant
  /** When it ends by itself, where that is known. */
  readonly until: Instant | null
  /** The one replica it is about, where there is one to name. */
  readonly replica: ReplicaId | null
}

/** Equal in every field. */
export function sameBlocker(a: Blocker | null, b: Blocker | null): boolean {
  if (a === null || b === null) return a === b
  return (
    a.reason === b.reason &&
    a.message === b.message &&
    a.count === b.count &&
    a.since === b.since &&
    a.until === b.until &&
    a.replica === b.replica
  )
}

/** Equal one by one, in order. */
export function sameBlockers(a: readonly Blocker[], b: readonly Blocker[]): boolean {
  return a.length === b.length && a.every((blocker, at) => sameBlocker(blocker, b[at] ?? null))
}
