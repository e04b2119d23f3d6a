import type { Revision } from '../../model/id.ts'
import type { Database } from '../database/database.ts'

/** Some facts after a position, up to `head`. */
export interface FactsSince<Fact> {
  readonly head: Revision
  /** The facts, in the order of their revisions. */
  readonly facts: readonly Fact[]
}

type Row = Readonly<Record<string, unknown>> & {
  readonly head: string
  readonly floor: string
  readonly revision: string | null
}

const factsPerPage = 2_000

/**
 * Yields all facts after `cursor` that `where` selects (on the table's alias f, with parameters from $3 on), page by
 * page. Null says that not all facts after `cursor` are kept, or that `cursor` is beyond the head. Each page reads
 * head, floor and facts in one statement, so that a trim in between is noticed.
 */
export async function readFactPages<Fact extends { readonly revision: Revision }>(
  { prisma }: Database,
  cursor: Revision,
  select: string,
  where: string,
  parameters: readonly unknown[],
  decode: (row: Readonly<Record<string, unknown>>, revision: Revision) => Fact,
): Promise<FactsSince<Fact> | null> {
  const text = `SELECT e."head"::text AS head, e."floor"::text AS floor, x.* FROM "Feed" e LEFT JOIN LATERAL (
    SELECT f."revision"::text AS revision, ${select} FROM "Fact" f WHERE f."revision" > $1::bigint AND ${where} ORDER BY f."revision" LIMIT $2::int
  ) x ON true WHERE e."id" = 1 ORDER BY x.revision::bigint`
  const facts: Fact[] = []
  for (let from = cursor; ; ) {
    const rows = await prisma.$queryRawUnsafe<Row[]>(text, from, factsPerPage, ...parameters)
    const [first] = rows
    if (first === undefined) throw new Error('The database has no fact log: its table Feed is empty.')
    const head = BigInt(first.head)
    if (from < BigInt(first.floor) || from > head) return null
    for (const row of rows) if (row.revision !== null) facts.push(decode(row, BigInt(row.revision)))
    if (rows.length < factsPerPage) return { head, facts }
    from = facts.at(-1)?.revision ?? head
  }
}
