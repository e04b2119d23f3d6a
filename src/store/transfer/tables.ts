import { isAliveText } from '../database/aliveReplica.ts'
import { primaryKeyOf, type Table } from '../rows/columns.ts'

/** How a table is moved. */
export interface TableTransfer {
  readonly table: Table
  /** Its primary key. */
  readonly order: readonly string[]
  /** The condition for rows to read in the dump's transaction; all rows when left out. */
  readonly living?: string
  /** The condition for rows to read after it, page by page: rows that never change once they exist. */
  readonly history?: string
}

const alive = isAliveText('t')
const whole = {}
const madeAnew = null

/** The tables, parents first. A missing table does not compile. */
const tables: { readonly [In in Table]: Pick<TableTransfer, 'living' | 'history'> | typeof madeAnew } = {
  Project: whole,
  Queue: whole,
  Profile: whole,
  ProfileRevision: whole,
  Host: whole,
  Worker: whole,
  HostPort: whole,
  Service: whole,
  ServiceVersion: whole,
  Rollout: whole,
  Slot: whole,
  Timer: whole,
  Token: whole,
  IdempotencyKey: whole,
  Replica: { living: alive, history: `NOT ${alive}` },
  Event: { living: 'false', history: 'true' },
  // Facts start again where the data is loaded, and other servers run there.
  Fact: madeAnew,
  Feed: madeAnew,
  Batch: madeAnew,
  Server: madeAnew,
  ServerLease: madeAnew,
  TokenChanges: madeAnew,
}

const names = Object.keys(tables) as Table[]

export const transferred: readonly TableTransfer[] = names.flatMap((table) => {
  const how = tables[table]
  return how === madeAnew ? [] : [{ table, order: primaryKeyOf(table), ...how }]
})

/** All tables of a database of this version. */
export const knownTables: ReadonlySet<string> = new Set([...names, '_prisma_migrations'])
