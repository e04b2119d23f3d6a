import type { Refusal } from './refusal.ts'

/** What became of an intent. `changed` false: it was valid and there was nothing to do. */
export type Outcome =
  | { readonly kind: 'done'; readonly changed: boolean }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/** The cap of rows cut it short: decided again, in the next commit, it does the rest. */
export const unfinished = { kind: 'unfinished' } as const

/** What became of an intent in one commit. */
export type CommitOutcome = Outcome | typeof unfinished
