import type { z } from 'zod'
import type { InputIssue } from '../../model/refusal.ts'
import { InvalidInputError } from './refusalError.ts'

/** The input as the schema describes it. Throws InvalidInputError with every issue at once. */
export function check<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input)
  if (result.success) return result.data
  throw invalidInput(
    result.error.issues.map(({ path, message }) => ({ path: ['input', ...path.map(String)], message })),
  )
}

export function invalidInput(issues: readonly InputIssue[]): InvalidInputError {
  const [first] = issues
  const summary =
    issues.length === 1
      ? 'A value of the input is not allowed.'
      : `${issues.length} values of the input are not allowed.`
  return new InvalidInputError(
    first === undefined ? summary : `${summary} ${first.path.join('.')}: ${first.message}`,
    issues,
  )
}
