import type { Instant } from '../../model/id.ts'

/** Where time and chance enter a decision: as arguments. */
export interface Context {
  /** The database's clock at the decision. */
  readonly now: Instant
  /** A new id; each call another. */
  readonly newId: () => string
}
