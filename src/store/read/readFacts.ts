import type { CommittedFact } from '../../model/fact.ts'
import type { Revision } from '../../model/id.ts'
import type { Database } from '../database/database.ts'
import { selectList } from '../rows/sql.ts'

export interface FactPage {
  readonly head: Revision
  /** Facts at or below the floor are trimmed. */
  readonly floor: Revision
  /** The number of times that tokens were changed or removed. */
  readonly tokenChanges: number
  readonly facts: readonly CommittedFact[]
}

interface Row {
  readonly head: string
  readonly floor: string
  readonly tokenChanges: number
  readonly revision: string | null
  readonly serviceId: string | null
  readonly hostId: string | null
  readonly kind: string
  readonly data: string
  readonly at: number
}

/** The statement that wrote the row filled it as its kind demands. */
function factOf({ revision, at, serviceId, hostId, kind, data }: Row & { readonly revision: string }): CommittedFact {
  return { revision: BigInt(revision), at, serviceId, hostId, kind, data: JSON.parse(data) } as CommittedFact
}

/**
 * Reads at most `most` facts after `after` in order, with head, floor and changes of tokens from the same state of the
 * database. It reads no fact when `after` is null.
 */
export async function readFacts({ prisma }: Database, after: Revision | null, most: number): Promise<FactPage> {
  const rows = await prisma.$queryRawUnsafe<Row[]>(
    `SELECT ${selectList<Row>({
      head: 'e."head"::text',
      floor: 'e."floor"::text',
      tokenChanges: '(SELECT t."count" FROM "TokenChanges" t WHERE t."id" = 1)',
      revision: 'f."revision"::text',
      serviceId: 'f."serviceId"',
      hostId: 'f."hostId"',
      kind: 'f."kind"',
      data: 'f."data"::text',
      at: '(extract(epoch FROM f."at") * 1000)::float8',
    })}
     FROM "Feed" e LEFT JOIN LATERAL (SELECT * FROM "Fact" WHERE "revision" > $1::bigint ORDER BY "revision" LIMIT $2::int) f ON true
     WHERE e."id" = 1 ORDER BY f."revision"`,
    after,
    most,
  )
  const [first] = rows
  if (!first) throw new Error('The database has no fact log: its table Feed is empty.')
  const facts = rows.flatMap((row): CommittedFact[] =>
    row.revision === null ? [] : [factOf({ ...row, revision: row.revision })],
  )
  return { head: BigInt(first.head), floor: BigInt(first.floor), tokenChanges: first.tokenChanges, facts }
}
