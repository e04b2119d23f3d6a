import { badUserInput } from './fault.ts'

/** PostgreSQL's text holds every character but NUL: nothing of that name can be stored, so nothing is found. */
export function storable(text: string): boolean {
  return !text.includes('\0')
}

/** Throws BAD_USER_INPUT where a filter has a text with a NUL in it, at any depth. */
export function refuseNul(argument: string, value: unknown): void {
  if (typeof value === 'string' && !storable(value)) {
    throw badUserInput(`${argument} is ${JSON.stringify(value)}: a text may not contain the character NUL.`)
  }
  if (typeof value !== 'object' || value === null) return
  for (const [key, part] of Object.entries(value)) refuseNul(`${argument}.${key}`, part)
}

/** A name of the input in a message: quoted, cut, and without characters that hide. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}
