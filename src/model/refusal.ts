import type { Revision } from './id.ts'

/** An expected failure as data, which is a member of a mutation's result union. `path` names the input field. */
export type Refusal =
  | { readonly code: 'NOT_FOUND'; readonly message: string; readonly path: readonly string[] }
  | { readonly code: 'INVALID_INPUT'; readonly message: string; readonly issues: readonly InputIssue[] }
  | { readonly code: 'NAME_TAKEN'; readonly message: string; readonly path: readonly string[] }
  | { readonly code: 'QUOTA_EXCEEDED'; readonly message: string; readonly limit: number; readonly requested: number }
  | {
      readonly code: 'CONFLICT'
      readonly message: string
      readonly path: readonly string[]
      readonly specRevision: Revision
    }
  | { readonly code: 'NO_CHANGE'; readonly message: string; readonly path: readonly string[] }
  | { readonly code: 'FORBIDDEN'; readonly message: string }
  | { readonly code: 'INVALID_STATE'; readonly message: string; readonly path: readonly string[] }
  | { readonly code: 'IDEMPOTENCY_MISMATCH'; readonly message: string }
  | { readonly code: 'FENCED'; readonly message: string }
  | { readonly code: 'OVERTAKEN'; readonly message: string; readonly newest: number }

/** The field, and a sentence with the value and the bound. */
export interface InputIssue {
  readonly path: readonly string[]
  readonly message: string
}
