import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { type ExactnessResult, runExactness } from '../feed/exactness.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { freshPostgreSQL } from '../support/fixtures/databases.ts'

const size = { writers: 50, operationsEach: 60, services: 8, subscribers: 16, disconnects: 500, bookmarkMillis: 500 }

function tell(where: string, { facts, frames, disconnects, kinds, millis }: ExactnessResult): void {
  const p = (list: readonly number[], share: number) =>
    Math.round(list.toSorted((a, b) => a - b)[Math.floor(list.length * share)] ?? 0)
  const { before, after } = millis
  console.log(`${where}: ${facts} facts, ${frames} frames (${JSON.stringify(kinds)}), ${disconnects} disconnects.`)
  console.log(
    `  A scale took ${p(before, 0.5)} ms (p99 ${p(before, 0.99)}) in the first half, ${p(after, 0.5)} ms (p99 ${p(after, 0.99)}) in the second.`,
  )
}

test.each([1, 2, 3])('on the embedded database, seed %i', async (seed) => {
  const server = await TestServer.start(undefined, undefined, size)
  try {
    const result = await runExactness({ servers: [server], ...size, seed })
    tell('Embedded', result)
    expect(result.faults).toEqual([])
    expect(result.disconnects).toBeGreaterThanOrEqual(size.disconnects)
  } finally {
    await server.stop()
  }
})

test.each([4, 5, 6])(
  'on PostgreSQL with two servers, and a transaction that stays open in the second half, seed %i',
  async (seed) => {
    const database = await freshPostgreSQL()
    const { url = '' } = database.options
    const start = () =>
      TestServer.start(undefined, mkdtempSync(path.join(tmpdir(), 'xce-test-')), {
        databaseUrl: url,
        bookmarkMillis: size.bookmarkMillis,
      })
    const servers = [await start(), await start()]
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      const atHalf = async () => {
        await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
        await client.query('CREATE TABLE "Held" AS SELECT * FROM "Fact"')
      }
      const result = await runExactness({ servers, ...size, seed, atHalf })
      await client.query('ROLLBACK')
      tell('PostgreSQL, two servers, an open transaction in the second half', result)
      expect(result.faults).toEqual([])
      expect(result.disconnects).toBeGreaterThanOrEqual(size.disconnects)
    } finally {
      await client.end()
      for (const server of servers) await server.stop()
      await database.drop()
    }
  },
)
