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
