import { isReadOnly } from '../store/database/database.ts'
import type { DatabaseErrorKind } from '../store/database/databaseErrors.ts'
import type { ServerContext } from '../systems/serverContext.ts'

/** A database that has not answered by then counts as unreachable: probes of /readyz themselves wait for seconds only. */
const databaseWithinMillis = 2_000

/** A sentence that says why the server should get no requests now; null when it is ready for them. */
export async function unreadiness(app: ServerContext): Promise<string | null> {
  switch (await findDatabaseError(app)) {
    case 'UNREACHABLE':
      return 'The database does not answer.'
    case 'READ_ONLY':
      return 'The database is read-only: reads work, changes are refused.'
    case 'FULL':
      return "The database's disk is full: reads work, changes are refused."
  }
  if (!app.tail.live) return 'The feed is not live: the server is not following the database.'
  const unheard = await app.returningWorkers.count()
  if (unheard === 0) return null
  return `The server has just started, and ${unheard} ${unheard === 1 ? 'worker has' : 'workers have'} not yet told which replicas still run: addresses may be dead.`
}

async function findDatabaseError({ database, committer }: ServerContext): Promise<DatabaseErrorKind | null> {
  let timeout: NodeJS.Timeout | undefined
  const late = new Promise<DatabaseErrorKind>((resolve) => {
    timeout = setTimeout(() => resolve('UNREACHABLE'), databaseWithinMillis)
  })
  const judge = async (): Promise<DatabaseErrorKind | null> => {
    if (await isReadOnly(database)) return 'READ_ONLY'
    return committer.isFull || (await database.isFull()) ? 'FULL' : null
  }
  const answered = judge().catch((): DatabaseErrorKind => 'UNREACHABLE')
  const result = await Promise.race([answered, late])
  clearTimeout(timeout)
  return result
}
