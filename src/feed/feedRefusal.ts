import type { Refusal } from '../model/refusal.ts'

/** Ends a subscription with an expected failure. The edge makes a top-level error with the refusal's code of it. */
export class FeedRefusal extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/** A caller who subscribes at the moment when the service ends gets this instead of a frame. */
export const serviceGone: Refusal = {
  code: 'NOT_FOUND',
  message: 'The service was deleted before the subscription began: look at `services` for those that exist.',
  path: [],
}
