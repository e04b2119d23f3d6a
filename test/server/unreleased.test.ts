import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { dumpLines } from '../../src/store/transfer/dump.ts'
import { loadLines } from '../../src/store/transfer/load.ts'
import { ServerProcess } from '../support/drivers/serverProcess.ts'
import {
  everythingIn,
  unreleasedEmbedded,
  unreleasedMigration,
  unreleasedPostgreSQL,
} from '../support/fixtures/unreleasedDatabase.ts'

// What was made before the first release is told as what it is, and left as it is.

vi.setConfig({ testTimeout: 120_000 })

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const was = `was made by an unreleased version of XCE Services (migration ${unreleasedMigration}) and can't be upgraded`

/** Of a data directory, without the embedded database and the lock. */
function filesIn(dataDirectory: string): readonly (readonly [string, string])[] {
  return readdirSync(dataDirectory, { withFileTypes: true }).flatMap((entry) =>
    entry.isFile() && entry.name !== 'database.lock'
      ? [[entry.name, readFileSync(path.join(dataDirectory, entry.name), 'utf8')] as const]
      : [],
  )
}

function dumpOf(migrations: readonly string[]): AsyncIterable<string> {
  const header = JSON.stringify({ version: 1, software: '0.1.0', migrations, head: '1', at: '' })
  return (async function* () {
    yield `{"xce-dump":${header}}`
  })()
}

test.each([
  ['embedded', unreleasedEmbedded],
  ['PostgreSQL', unreleasedPostgreSQL],
] as const)(
  'a database of before the first release, %s, is refused in one sentence that says what it is and what to do, and nothing in it is changed',
  async (_kind, make) => {
    const database = await make()
    ends.push(() => database.drop())
    const { url, everything } = database
    const directory = url === null ? database.dataDirectory : mkdtempSync(path.join(tmpdir(), 'xce-server-'))
    writeFileSync(path.join(directory, 'admin-token'), 'of then\n')
    const files = filesIn(directory)
    const server = new ServerProcess(url === null ? {} : { DATABASE_URL: url }, directory)
    ends.push(async () => expect(await server.clean()).toEqual([]))
    await server.start()
    expect(await server.end()).toBe(1)
    const lines = server.output
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { msg: string }).msg)
    expect(lines).toEqual([
      url === null
        ? `The embedded database in ${directory} ${was}: start with an empty data directory by XCE_DATA_DIR.`
        : `The database "${new URL(url).pathname.slice(1)}" on ${new URL(url).host} ${was}: start with an empty database by DATABASE_URL.`,
    ])
    expect(filesIn(directory)).toEqual(files)

    const connection = await database.connect()
    ends.push(() => connection.close())
    expect(await everythingIn(connection)).toEqual(everything)
    // Nor is it dumped, or loaded into; and what was dumped of it then is not loaded.
    await expect(dumpLines(connection, '1.0.0').next()).rejects.toThrow(
      `The database ${was}: its dump could not be loaded anywhere either.`,
    )
    await expect(loadLines(connection, dumpOf([]))).rejects.toThrow(
      `The database ${was}: start with an empty database.`,
    )
    await expect(loadLines(connection, dumpOf([unreleasedMigration]))).rejects.toThrow(
      `The dump ${was}: start with an empty database.`,
    )
    expect(await everythingIn(connection)).toEqual(everything)
  },
)
