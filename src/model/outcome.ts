import type { Refusal } from './refusal.ts'

/** The result of an intent. `changed` false means that it was valid and there was nothing to do. */
export type Outcome =
  | { readonly kind: 'done'; readonly changed: boolean }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/** The row cap cut the intent short. It is decided again in the next commit, which does the rest. */
export const unfinished = { kind: 'unfinished' } as const

/** The result of an intent in one commit. */
export type CommitOutcome = Outcome | typeof unfinished
