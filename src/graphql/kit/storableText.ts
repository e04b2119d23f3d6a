import { badUserInput } from './requestErrors.ts'

/**
 * PostgreSQL's text holds every character except NUL and half of one (a lone surrogate). Nothing with such a name can
 * be stored, so nothing is found.
 */
export function storable(text: string): boolean {
  return !/[\0\p{Cs}]/u.test(text)
}

/** Throws BAD_USER_INPUT when a filter has a text that can't be stored, at any depth. */
export function refuseUnstorable(argument: string, value: unknown): void {
  if (typeof value === 'string' && !storable(value)) {
    throw badUserInput(
      `${argument} is ${JSON.stringify(value)}: a text may not contain the character NUL, nor half of a character.`,
    )
  }
  if (typeof value !== 'object' || value === null) return
  for (const [key, part] of Object.entries(value)) refuseUnstorable(`${argument}.${key}`, part)
}
