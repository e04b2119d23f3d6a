import type { Refusal } from '../model/refusal.ts'

/** Ends a subscription with an expected failure. The edge makes a top-level error with the refusal's code of it. */
export class FeedRefusal extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}
