import { isReadOnly } from '../store/database/database.ts'
import type { DatabaseErrorKind } from '../store/database/databaseErrors.ts'
import type { ServerContext } from '../systems/serverContext.ts'

const databaseWithinMillis = 2_000

/** Why the server should get no requests now, as a sentence; null when it should. */
export async function unreadiness(app: ServerContext): Promise<string | null> {
  switch (await databaseTrouble(app)) {
    case 'UNREACHABLE':
      return 'The database does not answer.'
    case 'READ_ONLY':
      return 'The database is read-only: reads work, changes are refused.'
    case 'FULL':
      return "The database's disk is full: reads work, changes are refused."
  }
  return app.tail.live ? null : 'The feed is not live: the server is not following the database.'
}

async function databaseTrouble({ database, committer }: ServerContext): Promise<DatabaseErrorKind | null> {
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
