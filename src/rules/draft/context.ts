import type { Instant } from '../../model/id.ts'

/** Time and chance enter a decision only as arguments. */
export interface Context {
  /** The database's clock at the decision. */
  readonly now: Instant
  /** Makes a new id at each call. */
  readonly newId: () => string
}
