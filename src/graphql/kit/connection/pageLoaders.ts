import DataLoader from 'dataloader'
import type { Prisma, PrismaClient } from '../../../generated/prisma/client.ts'
import { groupBy } from '../../../model/groupBy.ts'
import { countQuery, type Listing, type Page, pageQuery } from './listing.ts'

type Row = Readonly<Record<string, unknown>>

/**
 * Loads the same page of the same connection for many parents with one statement. One is made for each request and each
 * pushed event. It batches and does not cache, because a second mutation of a document must not see what the first one
 * read.
 */
export class PageLoaders {
  readonly #prisma: PrismaClient
  readonly #loaders = new Map<string, DataLoader<string, readonly Row[]>>()
  readonly #counters = new Map<string, DataLoader<string, number>>()

  constructor(prisma: PrismaClient) {
    this.#prisma = prisma
  }

  /**
   * Returns the page's rows, and one more when there are more. `filterKey` names the filter among those of the
   * connection.
   */
  load<T>(
    listing: Listing,
    parent: string | null,
    filter: Prisma.Sql | null,
    filterKey: string,
    page: Page,
  ): Promise<readonly T[]> {
    if (parent === null) return this.#prisma.$queryRaw<T[]>(pageQuery(listing, [], filter, page))
    const key = JSON.stringify([listing.name, filterKey, page])
    let loader = this.#loaders.get(key)
    if (loader === undefined) {
      loader = new DataLoader((parents) => this.#loadMany(listing, parents, filter, page), { cache: false })
      this.#loaders.set(key, loader)
    }
    return loader.load(parent) as Promise<readonly T[]>
  }

  /** Returns the number of the connection's rows, on all pages. */
  async count(listing: Listing, parent: string | null, filter: Prisma.Sql | null, filterKey: string): Promise<number> {
    if (parent === null) return (await this.#countRows(listing, [], filter)).get(null) ?? 0
    const key = JSON.stringify([listing.name, filterKey])
    let counter = this.#counters.get(key)
    if (counter === undefined) {
      counter = new DataLoader(
        async (parents) => {
          const counts = await this.#countRows(listing, parents, filter)
          return parents.map((id) => counts.get(id) ?? 0)
        },
        { cache: false },
      )
      this.#counters.set(key, counter)
    }
    return counter.load(parent)
  }

  async #countRows(
    listing: Listing,
    parents: readonly string[],
    filter: Prisma.Sql | null,
  ): Promise<ReadonlyMap<string | null, number>> {
    const query = countQuery(listing, [...new Set(parents)], filter)
    const rows = await this.#prisma.$queryRaw<{ parent: string | null; count: number }[]>(query)
    return new Map(rows.map(({ parent, count }) => [parent, count]))
  }

  async #loadMany(
    listing: Listing,
    parents: readonly string[],
    filter: Prisma.Sql | null,
    page: Page,
  ): Promise<readonly (readonly Row[])[]> {
    const rows = await this.#prisma.$queryRaw<Row[]>(pageQuery(listing, [...new Set(parents)], filter, page))
    const byParent = groupBy(rows, (row) => row[listing.parent ?? ''])
    return parents.map((parent) => byParent.get(parent) ?? [])
  }
}
