import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { dumpLines } from '../../src/store/transfer/dump.ts'
import { loadLines } from '../../src/store/transfer/load.ts'
import { ServerProcess } from '../support/drivers/serverProcess.ts'
import {
  everythingIn,
  type UnreleasedDatabase,
  unreleasedEmbedded,
  unreleasedMigration,
  unreleasedPostgreSQL,
} from '../support/fixtures/unreleasedDatabase.ts'

// Nothing was released before the first release: what was made before it is told as what it is, and left as it is.

vi.setConfig({ testTimeout: 120_000 })

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const was = `was made by an unreleased version of XCE Services (migration ${unreleasedMigration}) and can't be upgraded`

/** Of the data directory, without the embedded database and the lock. */
function filesIn({ dataDirectory, url }: UnreleasedDatabase): readonly (readonly [string, string])[] {
  if (url !== null) return []
  return readdirSync(dataDirectory, { withFileTypes: true }).flatMap((entry) =>
    entry.isFile() && entry.name !== 'database.lock'
      ? [[entry.name, readFileSync(path.join(dataDirectory, entry.name), 'utf8')] as const]
      : [],
  )
}

/** The name of a PostgreSQL database and its server, as a server's log has them. */
function placeOf(url: string): string {
  const { pathname, host } = new URL(url)
  return `"${pathname.slice(1)}" on ${host}`
}

describe.each([
  ['embedded', unreleasedEmbedded],
  ['PostgreSQL', unreleasedPostgreSQL],
] as const)('a database of before the first release, %s', (_kind, make) => {
  async function made(): Promise<UnreleasedDatabase> {
    const database = await make()
    ends.push(() => database.drop())
    return database
  }

  test('is refused by a server in one sentence that says what it is and what to do; nothing in it is changed', async () => {
    const database = await made()
    const { url, dataDirectory } = database
    const before = { rows: await everythingIn(database), files: filesIn(database) }
    const [server, expected] =
      url === null
        ? [
            new ServerProcess({}, dataDirectory),
            `The embedded database in ${dataDirectory} ${was}: start with an empty data directory by XCE_DATA_DIR.`,
          ]
        : [
            new ServerProcess({ DATABASE_URL: url }),
            `The database ${placeOf(url)} ${was}: start with an empty database by DATABASE_URL.`,
          ]
    await server.start()
    expect(await server.end()).toBe(1)
    const lines = server.output
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { msg: string }).msg)
    expect(lines).toEqual([expected])
    expect({ rows: await everythingIn(database), files: filesIn(database) }).toEqual(before)
    if (url !== null) expect(await server.clean()).toEqual([])
  })

  test('is neither dumped nor loaded into', async () => {
    const database = await made()
    const before = await everythingIn(database)
    const connection = await database.connect()
    await expect(dumpLines(connection, '1.0.0').next()).rejects.toThrow(
      `The database ${was}: its dump could not be loaded anywhere either.`,
    )
    const header = (migrations: readonly string[]) =>
      (async function* () {
        yield `{"xce-dump":${JSON.stringify({ version: 1, software: '0.1.0', migrations, head: '1', at: '' })}}`
      })()
    await expect(loadLines(connection, header([]))).rejects.toThrow(
      `The database ${was}: start with an empty database.`,
    )
    await expect(loadLines(connection, header([unreleasedMigration]))).rejects.toThrow(
      `The dump ${was}: start with an empty database.`,
    )
    await connection.close()
    expect(await everythingIn(database)).toEqual(before)
  })
})
