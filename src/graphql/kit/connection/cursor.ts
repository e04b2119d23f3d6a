import { Reachability, ServiceStatus } from '../../../generated/prisma/enums.ts'
import { badUserInput } from '../requestErrors.ts'
import { storable } from '../storableText.ts'
import type { Listing, OrderColumn } from './listing.ts'

// A cursor is the position of a row (its values in the columns of the order), with the name of its connection. So a
// cursor of another connection, parent or order is refused, and not mistaken for another position.

const fits: Record<OrderColumn['type'], (text: string) => boolean> = {
  text: storable,
  int4: (text) => /^-?\d{1,9}$/.test(text),
  int8: (text) => /^\d{1,18}$/.test(text),
  ServiceStatus: (text) => Object.hasOwn(ServiceStatus, text),
  Reachability: (text) => Object.hasOwn(Reachability, text),
  // Accepts instants as this server's cursors write them, so no 31st of February, and no year that PostgreSQL would
  // read differently.
  timestamptz: (text) =>
    /^\d{4}-/.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString() === text,
}

export function cursorOf(listing: Listing, parent: string | null, row: Readonly<Record<string, unknown>>): string {
  const position = listing.order.map(({ column }) => {
    const value = row[column]
    return value instanceof Date ? value.toISOString() : String(value)
  })
  return Buffer.from(JSON.stringify([scopeOf(listing, parent), ...position])).toString('base64url')
}

/** Returns the position of a cursor. Throws BAD_USER_INPUT when it is not a cursor of this connection. */
export function positionOf(
  listing: Listing,
  parent: string | null,
  argument: 'after' | 'before',
  cursor: string,
): readonly string[] {
  const [scope, ...position] = decoded(cursor)
  const isPosition =
    position.length === listing.order.length && listing.order.every(({ type }, at) => fits[type](position[at] ?? ''))
  if (scope !== scopeOf(listing, parent) || !isPosition) {
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
