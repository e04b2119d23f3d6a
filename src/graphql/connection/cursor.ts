import { badUserInput } from '../fault.ts'
import type { Listing, OrderColumn } from './listing.ts'

// A cursor is the position of a row (its values in the columns of the order), with the name of its connection, so that a cursor of another
// connection, of another parent or of another order is refused and not taken for a position that it is not.

const shapes: Record<OrderColumn['type'], RegExp> = {
  // A NUL is the one character that PostgreSQL's text has not.
  text: /^[^\0]*$/,
  int: /^-?\d{1,9}$/,
  bigint: /^\d{1,18}$/,
  timestamptz: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
}

export function cursorOf(listing: Listing, parent: string | null, row: Readonly<Record<string, unknown>>): string {
  const position = listing.order.map(({ column }) => {
    const value = row[column]
    return value instanceof Date ? value.toISOString() : String(value)
  })
  return Buffer.from(JSON.stringify([scopeOf(listing, parent), ...position])).toString('base64url')
}

/** The position that a cursor stands for. Throws BAD_USER_INPUT where it is no cursor of this connection. */
export function positionOf(listing: Listing, parent: string | null, argument: 'after' | 'before', cursor: string): readonly string[] {
  const [scope, ...position] = decoded(cursor)
  const fits = position.length === listing.order.length && listing.order.every(({ type }, at) => shapes[type].test(position[at] ?? ''))
  if (scope !== scopeOf(listing, parent) || !fits) {
    throw badUserInput(
      `${argument} is ${JSON.stringify(cursor)}: that is no cursor of this connection (${listing.name}). Pass a cursor of it, or leave it out.`,
    )
  }
  return position
}

function scopeOf(listing: Listing, parent: string | null): string {
  return [
    listing.name,
    ...listing.order.map(({ column }) => column),
    listing.descending ? 'DESC' : 'ASC',
    ...(parent === null ? [] : [parent]),
  ].join(':')
}

function decoded(cursor: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(value) && value.every((part) => typeof part === 'string') ? value : []
  } catch {
    return []
  }
}
