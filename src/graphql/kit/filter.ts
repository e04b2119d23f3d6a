import { Prisma } from '../../generated/prisma/client.ts'
import { bounds } from '../../model/bounds.ts'
import type { Filtered } from './connection/connection.ts'
import { badUserInput } from './requestErrors.ts'
import { storable } from './storableText.ts'

// A filter is an input object. Each field is a list, and one of its values has to hold; all given fields have to hold.

/** The descriptions of filters and of their arguments, which all say the same. */
export const filterDescription = (things: string) =>
  `Selects ${things} that meet all given conditions. Each condition is a list of at most ${bounds.filterValues.max} values, of which one has to hold; an empty list matches none.`

/**
 * Throws BAD_USER_INPUT when a filter has more values than it may, or a text that is too long or that can't be stored,
 * at any depth.
 */
export function refuseBadFilter(argument: string, value: unknown): void {
  if (typeof value === 'string') refuseBadText(argument, value)
  if (typeof value !== 'object' || value === null) return
  const { max } = bounds.filterValues
  if (Array.isArray(value) && value.length > max)
    throw badUserInput(`${argument} has ${value.length} values: give at most ${max}.`)
  for (const [key, part] of Object.entries(value)) refuseBadFilter(`${argument}.${key}`, part)
}

function refuseBadText(argument: string, text: string): void {
  const { filterTextLength: max } = bounds
  if (text.length > max) throw badUserInput(`${argument} has ${text.length} characters: give at most ${max}.`)
  if (storable(text)) return
  throw badUserInput(
    `${argument} is ${JSON.stringify(text)}: a text may not contain the character NUL, nor half of a character.`,
  )
}

/** Returns the conditions, those of the filter that are given, as a condition on the rows `t` of a connection. */
export function filtered(filter: object | null | undefined, conditions: readonly Prisma.Sql[]): Filtered {
  return { sql: conditions.length === 0 ? null : allOf(conditions), key: JSON.stringify(filter ?? null) }
}

export function allOf(conditions: readonly Prisma.Sql[]): Prisma.Sql {
  return Prisma.join([...conditions], ' AND ')
}

/** The condition that `sql`, a text or a value of the enum `type`, is one of the values; none when no values are given. */
export function among(sql: Prisma.Sql, values: readonly string[] | null | undefined, type?: string): Prisma.Sql[] {
  if (!values) return []
  const cast = type === undefined ? Prisma.empty : Prisma.raw(`::"${type}"[]`)
  return [Prisma.sql`${sql} = ANY(${values}::text[]${cast})`]
}
