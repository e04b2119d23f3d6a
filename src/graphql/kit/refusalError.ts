import { GraphQLError } from 'graphql'
import type { Refusal, RefusalCode } from '../../model/refusal.ts'
import { refusalCodes } from './errorCodes.ts'

/**
 * A refusal as an error. It extends GraphQLError, so that a refusal that no union takes is still a readable top-level
 * error.
 */
export abstract class RefusalError<
  Of extends { readonly code: RefusalCode; readonly message: string } = Refusal,
> extends GraphQLError {
  readonly refusal: Of

  constructor(refusal: Of) {
    super(refusal.message, { extensions: { code: refusal.code } })
    this.refusal = refusal
  }
}

type ErrorClass = new (refusal: Refusal) => RefusalError

/** There is one class for each code, because the errors plugin distinguishes the members of a union by class. */
export const errorClasses = Object.fromEntries(
  refusalCodes.map((code): [RefusalCode, ErrorClass] => [code, class extends RefusalError {}]),
) as Readonly<Record<RefusalCode, ErrorClass>>

/** Returns the types of these codes, for the union of a field's results. */
export function errorTypes(...codes: readonly RefusalCode[]): ErrorClass[] {
  return codes.map((code) => errorClasses[code])
}

/** Returns a refusal of the rules, the store or an input as the error that the API shows. */
export function errorOf(refusal: Refusal): RefusalError {
  return new errorClasses[refusal.code](refusal)
}
