import type { Revision } from './id.ts'

/** An expected failure as data, which is a member of a mutation's result union. */
export type Refusal = { readonly [Code in RefusalCode]: RefusalOf<Code> }[RefusalCode]

export type RefusalCode = keyof RefusalData

/** `message` says what happened, to what, and what to do next. */
export type RefusalOf<Code extends RefusalCode> = {
  readonly code: Code
  readonly message: string
} & RefusalData[Code]

/** What the refusal with each code has beside its message. What a code means, errorCodes of graphql/ says. */
interface RefusalData {
  NOT_FOUND: AtPath
  INVALID_INPUT: { readonly issues: readonly InputIssue[] }
  NAME_TAKEN: AtPath
  QUOTA_EXCEEDED: { readonly limit: number; readonly requested: number }
  CONFLICT: AtPath & { readonly specRevision: Revision }
  NO_CHANGE: AtPath
  FORBIDDEN: unknown
  INVALID_STATE: AtPath
  IDEMPOTENCY_MISMATCH: unknown
  FENCED: unknown
  OVERTAKEN: { readonly newest: number }
}

interface AtPath {
  /** The way to the field of the input that it is about, from the arguments on. */
  readonly path: readonly string[]
}

/** The field, and a sentence with the value and the bound. */
export interface InputIssue extends AtPath {
  readonly message: string
  /** What is allowed, in words, where it is a bound that was passed. */
  readonly bound?: string
  /** The refused value as a text; left out where it is not known, null where it may not be shown. */
  readonly value?: string | null
}

export function invalidInput(issues: readonly InputIssue[]): RefusalOf<'INVALID_INPUT'> {
  const [first] = issues
  const summary =
    issues.length === 1
      ? 'A value of the input is not allowed.'
      : `${issues.length} values of the input are not allowed.`
  const message = first === undefined ? summary : `${summary} ${first.path.join('.')}: ${first.message}`
  return { code: 'INVALID_INPUT', message, issues }
}
