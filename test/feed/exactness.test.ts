import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { TestServer } from '../support/drivers/testServer.ts'
import { freshPostgreSQL } from '../support/fixtures/databases.ts'
import { runExactness } from './exactness.ts'

const bookmarkMillis = 500

test('on the embedded database: frames abut, tables are right at every frame, tails hear every fact once', async () => {
  const server = await TestServer.start(undefined, undefined, { bookmarkMillis })
  try {
    const size = { writers: 12, operationsEach: 20, services: 3, subscribers: 6, disconnects: 60, seed: 7 }
    const result = await runExactness({ servers: [server], ...size })
    expect(result.faults).toEqual([])
    expect(result.disconnects).toBeGreaterThanOrEqual(60)
    expect(result.kinds['DELTA']).toBeGreaterThan(50)
  } finally {
    await server.stop()
  }
}, 120_000)

test('on PostgreSQL, with two servers and an open transaction', async () => {
  const database = await freshPostgreSQL()
  const { url = '' } = database.options
  const start = () =>
    TestServer.start(undefined, mkdtempSync(path.join(tmpdir(), 'xce-test-')), { databaseUrl: url, bookmarkMillis })
  const first = await start()
  const second = await start()
  // The second server has no token of its own: tokens are the database's.
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const size = { writers: 12, operationsEach: 20, services: 3, subscribers: 6, disconnects: 60, seed: 8 }
    const atHalf = async () => {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
      await client.query('CREATE TABLE "Held" AS SELECT * FROM "Fact"')
    }
    const result = await runExactness({ servers: [first, second], ...size, atHalf })
    await client.query('ROLLBACK')
    expect(result.faults).toEqual([])
    expect(result.disconnects).toBeGreaterThanOrEqual(60)
    expect(result.kinds['DELTA']).toBeGreaterThan(50)
  } finally {
    await client.end()
    await second.stop()
    await first.stop()
    await database.drop()
  }
}, 120_000)
