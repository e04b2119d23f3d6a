import type { Revision } from '../../src/model/id.ts'
import type { Database } from '../../src/store/database.ts'
import { readFacts } from '../../src/store/readFacts.ts'

/** The revision of the newest fact. */
export async function readHead(database: Database): Promise<Revision> {
  return (await readFacts(database, null, 0)).head
}
