import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { firstFrames } from '../feed/subscriber.ts'
import { createService, scale } from '../support/drivers/apiService.ts'
import { ServerProcess } from '../support/drivers/serverProcess.ts'
import { built } from '../support/fixtures/built.ts'
import { copyPostgreSQL, emptyPostgreSQL, freshPostgreSQL, type TestDatabase } from '../support/fixtures/databases.ts'

// It starts two servers as processes.
vi.setConfig({ testTimeout: 120_000 })

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

function own(database: TestDatabase): TestDatabase {
  ends.push(() => database.drop())
  return database
}

async function serve({ options }: TestDatabase): Promise<ServerProcess> {
  const directory = mkdtempSync(path.join(tmpdir(), 'xce-restore-'))
  const server = new ServerProcess({ DATABASE_URL: options.url }, directory)
  ends.push(async () => expect(await server.clean()).toEqual([]))
  await server.start()
  return server
}

/** Runs `npm run restored` as the operator does. */
function restored({ options }: TestDatabase): Promise<{ readonly code: number; readonly said: string }> {
  const env = { PATH: process.env['PATH'], DATABASE_URL: options.url }
  return new Promise((resolve) => {
    execFile(process.execPath, [built('tools/restored.js')], { env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), said: `${stdout}${stderr}` }),
    )
  })
}

async function headOf({ open }: TestDatabase): Promise<{ readonly head: bigint; readonly floor: bigint }> {
  const database = await open()
  try {
    return await database.prisma.feed.findUniqueOrThrow({ where: { id: 1 }, select: { head: true, floor: true } })
  } finally {
    await database.close()
  }
}

const streams = {
  servicesChanged: '(after: $after) { kind revision services { name } }',
  eventAdded: '(after: $after) { kind revision events { message } }',
}

test('after a restore a command makes clients with a later cursor get a SNAPSHOT; while a server runs it is refused', async () => {
  const original = own(await freshPostgreSQL())
  const first = await serve(original)
  await createService(first.client(), 'kept', 1)
  const backup = own(await copyPostgreSQL(original))
  await scale(first.client(), 'kept', 3)
  await createService(first.client(), 'lost', 1)
  const had = await firstFrames(first.client(), streams, null)
  expect(await restored(original)).toMatchObject({
    code: 1,
    said: expect.stringMatching(/^A server uses this database: stop all servers of it first/),
  })
  expect(await first.end()).toBe(0)

  const before = await headOf(backup)
  const { code, said } = await restored(backup)
  expect([code, said]).toEqual([
    0,
    expect.stringMatching(
      /^The revisions of the database "xce_\w+" on \S+ go on from 10{6,}\d* instead of \d+: clients get a SNAPSHOT when they resume\. It knows no worker\. Start the servers now\.\n$/,
    ),
  ])
  const raised = await headOf(backup)
  expect(raised.floor).toBe(raised.head)
  expect(raised.head).toBeGreaterThan(before.head)
  // A second run does no harm.
  expect(await restored(backup)).toMatchObject({ code: 0 })
  expect((await headOf(backup)).head).toBeGreaterThan(raised.head)

  const second = await serve(backup)
  const resumed = await firstFrames(second.client(), streams, had)
  for (const [field, frame] of Object.entries(resumed)) {
    expect([field, frame.kind]).toEqual([field, 'SNAPSHOT'])
    expect(BigInt(frame.revision)).toBeGreaterThan(BigInt(had[field]?.revision ?? 0))
  }
  expect(resumed['servicesChanged']).toMatchObject({ services: [{ name: 'kept' }] })
})

test('a database without tables of XCE Services is refused', async () => {
  expect(await restored(own(await emptyPostgreSQL()))).toEqual({
    code: 1,
    said: 'There are no tables of XCE Services in this database: restore the backup first.\n',
  })
})
