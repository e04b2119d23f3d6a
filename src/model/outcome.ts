import type { Refusal } from './refusal.ts'

/** What became of an intent. `changed` false: it was valid and there was nothing to do. */
export type Outcome = { readonly kind: 'done'; readonly changed: boolean } | { readonly kind: 'refused'; readonly refusal: Refusal }
