import { invalidInput, type RefusalOf } from '../../model/refusal.ts'
import { errorOf, RefusalError } from './refusalError.ts'

/** Longer values are cut. */
const mostCharacters = 200

/** Inputs whose values may be secrets. */
const secretive = new Set(['env', 'setEnv'])

/** Adds to each issue of a refused input the value that was refused, so that a form can show both. */
export function withValues(error: unknown, args: object): unknown {
  if (!(error instanceof RefusalError) || error.refusal.code !== 'INVALID_INPUT') return error
  const { message, issues } = error.refusal as RefusalOf<'INVALID_INPUT'>
  const told = issues.map((issue) => ({ ...issue, value: refusedValue(args, issue.path) }))
  return errorOf({ ...invalidInput(told), message })
}

/** Returns the value at a path as a text, JSON where it is no text; null where there is none, or where it may be a secret. */
export function refusedValue(args: object, path: readonly string[]): string | null {
  const maySecret = path.some((part) => secretive.has(part)) && path.at(-1) !== 'name'
  if (maySecret) return null
  let value: unknown = args
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return null
    value = (value as Readonly<Record<string, unknown>>)[part]
  }
  if (value === null || value === undefined || holdsSecrets(value)) return null
  const text = textOf(asWritten(value))
  return text.length > mostCharacters ? `${[...text].slice(0, mostCharacters - 1).join('')}…` : text
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value, (_key, part) => asWritten(part))

/** A revision is a text, and a limit is a number or a percentage, as callers write them. */
function asWritten(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}`
  if (typeof value !== 'object' || value === null) return value
  const [[name, number] = [], ...more] = Object.entries(value)
  if (more.length > 0 || typeof number !== 'number') return value
  return name === 'count' ? number : name === 'percent' ? `${number}%` : value
}

function holdsSecrets(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).some((key) => secretive.has(key))
}
