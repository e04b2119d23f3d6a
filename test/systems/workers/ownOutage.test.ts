import pg from 'pg'
import { afterEach, expect, test, vi } from 'vitest'
import { HandWorker } from '../../support/drivers/handWorker.ts'
import { TestServer } from '../../support/drivers/testServer.ts'
import { freshPostgreSQL, type TestDatabase } from '../../support/fixtures/databases.ts'
import { until } from '../../support/fixtures/until.ts'

vi.setConfig({ testTimeout: 90_000 })

let database: TestDatabase | undefined
let server: TestServer | undefined
let blocker: pg.Client | undefined
afterEach(async () => {
  await blocker?.end()
  await server?.stop()
  await database?.drop()
})

test('a server whose heartbeat could not be written takes nobody for silent: every lease starts anew', async () => {
  database = await freshPostgreSQL()
  const databaseUrl = database.options.url ?? ''
  server = await TestServer.start(undefined, undefined, {
    databaseUrl,
    env: { XCE_LEASE_SECONDS: '2', XCE_GRACE_SECONDS: '1' },
  })
  const { prisma } = server.app.database
  const worker = new HandWorker(server.client, 'a')
  await worker.register()
  // The first silence is the server's, however long it takes until here.
  const renewed = worker.keepAlive(100)

  // Its heartbeats wait here, as they would for a database that is away.
  blocker = new pg.Client({ connectionString: databaseUrl })
  await blocker.connect()
  await blocker.query('BEGIN')
  await blocker.query('LOCK TABLE "Server" IN ACCESS EXCLUSIVE MODE')
  renewed()
  const lease = await prisma.worker.findFirstOrThrow()
  const { app } = server
  await until(() => app.clock.now() > lease.leaseUntil.getTime() + 2_000, 'lease and grace are over', 30)
  await blocker.query('ROLLBACK')

  // The worker is back with the database, within a lease of it.
  const stop = worker.keepAlive(100)
  const renewedAt = lease.leaseUntil.getTime() + 2_000
  await until(
    async () => (await prisma.worker.findFirstOrThrow()).leaseUntil.getTime() > renewedAt + 5_000,
    'it renews for longer than lease and grace',
    30,
  )
  stop()
  const events = await prisma.event.findMany({ where: { kind: 'HOST' } })
  expect(events.map(({ message }) => message)).toEqual([expect.stringContaining('Worker a registered')])

  // And then it is as silent as anybody else.
  await until(async () => (await prisma.host.findFirstOrThrow()).reachability === 'LOST', 'it is lost', 30)
})
