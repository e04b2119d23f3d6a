import type { App } from '../controller/app.ts'

const databaseWithinMillis = 2_000

/** Why the server should get no requests now, as a sentence; null when it should. */
export async function unreadiness(app: App): Promise<string | null> {
  if (!app.tail.live) return 'The feed is not live: the server is not following the database.'
  return (await reachable(app)) ? null : 'The database does not answer.'
}

async function reachable(app: App): Promise<boolean> {
  let timeout: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timeout = setTimeout(() => resolve(false), databaseWithinMillis)
  })
  const answered = app.database.prisma.$queryRaw`SELECT 1`.then(
    () => true,
    () => false,
  )
  const result = await Promise.race([answered, late])
  clearTimeout(timeout)
  return result
}
