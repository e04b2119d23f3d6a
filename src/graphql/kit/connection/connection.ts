import type { Prisma } from '../../../generated/prisma/client.ts'
import { bounds } from '../../../model/bounds.ts'
import type { GraphQLContext } from '../context.ts'
import { badUserInput } from '../requestErrors.ts'
import { cursorOf, positionOf } from './cursor.ts'
import type { Listing, Page } from './listing.ts'

/** The arguments of every connection, as they come from a document. */
export interface PageArguments {
  readonly first?: number | null | undefined
  readonly last?: number | null | undefined
  readonly after?: string | null | undefined
  readonly before?: string | null | undefined
}

export interface Connection<T> {
  readonly edges: { readonly cursor: string; readonly node: T }[]
  readonly pageInfo: {
    readonly hasNextPage: boolean
    readonly hasPreviousPage: boolean
    readonly startCursor: string | null
    readonly endCursor: string | null
  }
  /** Counts the rows on all pages, with a statement of its own. */
  readonly count: () => Promise<number>
}

/** Which of the connection's rows to return. `key` distinguishes the filters of one connection. */
export interface Filtered {
  readonly sql: Prisma.Sql | null
  readonly key: string
}

const unfiltered: Filtered = { sql: null, key: '' }

/**
 * Returns one page of a connection. Throws BAD_USER_INPUT for arguments out of their bounds, instead of quietly using
 * others.
 */
export async function connectionOf<T extends object>(
  context: GraphQLContext,
  listing: Listing,
  parent: string | null,
  args: PageArguments,
  filter: Filtered = unfiltered,
): Promise<Connection<T>> {
  const page = pageOf(listing, parent, args)
  const loaded = await context.pages.load<T>(listing, parent, filter.sql, filter.key, page)
  const more = loaded.length > page.limit
  const rows = loaded.slice(0, page.limit)
  if (page.backward) rows.reverse()
  const edges = rows.map((node) => ({ cursor: cursorOf(listing, parent, node as Record<string, unknown>), node }))
  return {
    edges,
    pageInfo: {
      hasNextPage: page.backward ? page.before !== null : more || page.before !== null,
      hasPreviousPage: page.backward ? more || page.after !== null : page.after !== null,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    count: () => context.pages.count(listing, parent, filter.sql, filter.key),
  }
}

function pageOf(listing: Listing, parent: string | null, args: PageArguments): Page {
  const { first, last, after, before } = args
  if (typeof first === 'number' && typeof last === 'number') {
    throw badUserInput(
      `first is ${first} and last is ${last}: give one of them, or neither for the first ${bounds.pageSize.default}.`,
    )
  }
  return {
    limit: sizeOf('first', first) ?? sizeOf('last', last) ?? bounds.pageSize.default,
    backward: typeof last === 'number',
    after: typeof after === 'string' ? positionOf(listing, parent, 'after', after) : null,
    before: typeof before === 'string' ? positionOf(listing, parent, 'before', before) : null,
  }
}

function sizeOf(argument: string, size: number | null | undefined): number | null {
  if (size === null || size === undefined) return null
  if (size < 0 || size > bounds.pageSize.max)
    throw badUserInput(`${argument} is ${size}: give 0 to ${bounds.pageSize.max}.`)
  return size
}
