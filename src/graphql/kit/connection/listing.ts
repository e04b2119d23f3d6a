import { Prisma } from '../../../generated/prisma/client.ts'

/** A column that a connection is ordered by, and its PostgreSQL type: a cursor's value is text until it is compared. */
export interface OrderColumn {
  readonly column: string
  readonly type: 'text' | 'int4' | 'int8' | 'timestamptz' | 'ServiceStatus' | 'Reachability'
}

/** What a connection lists: the rows of one table, of one parent or of all, in a total order. */
export interface Listing {
  /** The name of the connection, for example `Service.replicas`, which cursors carry. */
  readonly name: string
  readonly table: string
  /** The column that holds the parent's id; null when the connection has no parent. */
  readonly parent: string | null
  /** The order, which ends in a column that is unique in the connection. */
  readonly order: readonly OrderColumn[]
  readonly descending: boolean
}

/**
 * Which part of a connection to return: at most `limit` rows between two positions, from the front or from the back.
 */
export interface Page {
  readonly limit: number
  readonly backward: boolean
  readonly after: readonly string[] | null
  readonly before: readonly string[] | null
}

const name = (column: string): Prisma.Sql => Prisma.raw(`"${column}"`)

/**
 * Returns one row more than the page's limit for each of `parents`, in the connection's order or, for a page from the
 * back, against it. It is one statement for any number of parents, and reads no more rows of each than it returns, by a
 * LATERAL join. (Prisma's own nested `take` reads all children and cuts them in memory.)
 */
export function pageQuery(
  listing: Listing,
  parents: readonly string[],
  filter: Prisma.Sql | null,
  page: Page,
): Prisma.Sql {
  const descending = listing.descending !== page.backward
  const direction = Prisma.raw(descending ? 'DESC' : 'ASC')
  const ordered = (alias: string) =>
    Prisma.join(listing.order.map(({ column }) => Prisma.sql`${Prisma.raw(alias)}.${name(column)} ${direction}`))
  const conditions = [
    ...(listing.parent === null ? [] : [Prisma.sql`t.${name(listing.parent)} = parent.id`]),
    ...(filter === null ? [] : [filter]),
    ...(page.after === null ? [] : [beyond(listing, page.after, listing.descending ? '<' : '>')]),
    ...(page.before === null ? [] : [beyond(listing, page.before, listing.descending ? '>' : '<')]),
  ]
  const where = conditions.length === 0 ? Prisma.empty : Prisma.sql`WHERE ${Prisma.join(conditions, ' AND ')}`
  const rows = Prisma.sql`SELECT t.* FROM ${name(listing.table)} t ${where} ORDER BY ${ordered('t')} LIMIT ${page.limit + 1}`
  if (listing.parent === null) return rows
  return Prisma.sql`SELECT page.* FROM unnest(${parents}::text[]) AS parent(id) CROSS JOIN LATERAL (${rows}) page ORDER BY ${ordered('page')}`
}

/** Counts the rows of each of `parents`, or of all when the connection has no parent. A parent without rows is left out. */
export function countQuery(listing: Listing, parents: readonly string[], filter: Prisma.Sql | null): Prisma.Sql {
  const where = filter === null ? Prisma.empty : Prisma.sql`AND ${filter}`
  const table = name(listing.table)
  if (listing.parent === null)
    return Prisma.sql`SELECT NULL::text AS parent, count(*)::int FROM ${table} t WHERE true ${where}`
  const parent = Prisma.sql`t.${name(listing.parent)}`
  return Prisma.sql`SELECT ${parent} AS parent, count(*)::int FROM ${table} t WHERE ${parent} = ANY(${parents}::text[]) ${where} GROUP BY 1`
}

/**
 * The keyset condition: strictly beyond a position. All columns run in one direction, so it is a single row comparison,
 * which an index can follow.
 */
function beyond(listing: Listing, position: readonly string[], operator: '<' | '>'): Prisma.Sql {
  const columns = Prisma.join(listing.order.map(({ column }) => Prisma.sql`t.${name(column)}`))
  const values = Prisma.join(listing.order.map(({ type }, at) => Prisma.sql`${position[at]}::text::${name(type)}`))
  return Prisma.sql`(${columns}) ${Prisma.raw(operator)} (${values})`
}
