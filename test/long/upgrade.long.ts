import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { change, createService, scale } from '../support/apiService.ts'
import { FactAudit } from '../support/audit/factAudit.ts'
import { built } from '../support/built.ts'
import { freshPostgreSQL, type TestDatabase } from '../support/databases.ts'
import { EndpointWatch } from '../support/endpointWatch.ts'
import { freePort } from '../support/processes.ts'
import { lastRelease, Release } from '../support/release.ts'
import { ServerProcess } from '../support/serverProcess.ts'
import { until } from '../support/until.ts'
import { WorkerProcess } from '../support/workerProcess.ts'

/** Until there is a tag: the first release knew this migration, and its workers this protocol. */
const frozen = { only: ['20261129213258_init'], protocol: 1 }

const expanding = `ALTER TABLE "Service" ADD COLUMN "colour" TEXT;
ALTER TABLE "Replica" ADD COLUMN "weight" INTEGER NOT NULL DEFAULT 1;
ALTER TABLE "Fact" ADD COLUMN "origin" TEXT;
ALTER TABLE "Host" ADD COLUMN "rack" TEXT;
ALTER TABLE "Worker" ADD COLUMN "kernel" TEXT;
CREATE TABLE "Label" ("id" TEXT PRIMARY KEY, "text" TEXT NOT NULL);`
const added = { '99990101000000_next': expanding }

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

function release(made: Release): Release {
  ends.push(() => made.remove())
  return made
}

async function server(database: TestDatabase, of: Release): Promise<ServerProcess> {
  const env = { DATABASE_URL: database.options.url, XCE_PORT: String(await freePort()), XCE_LEASE_SECONDS: '10', XCE_GRACE_SECONDS: '120' }
  const made = new ServerProcess(env, mkdtempSync(path.join(tmpdir(), 'xce-server-')), of.program('server.js'))
  ends.push(() => made.clean())
  await made.start()
  return made
}

function worker(first: ServerProcess, name: string, from: number, of: Release, urls: readonly string[]): WorkerProcess {
  const env = { XCE_WORKER_SERVER_FILE: '', XCE_WORKER_SERVERS: urls.join(',') }
  const made = new WorkerProcess(first, name, from, env, of.program('worker.js'))
  ends.push(() => made.end('SIGUSR2'))
  made.start()
  return made
}

test('an old and a new server side by side on one PostgreSQL, while services change: servers first, then workers, then what the old one needed', async () => {
  const tag = lastRelease()
  const [old, next] = [release(tag === null ? Release.like(frozen) : Release.of(tag)), release(Release.like({ added, protocol: 2 }))]
  const database = await freshPostgreSQL()
  ends.push(() => database.drop())
  // Now: in the end this tree's release is an old one too.
  const opened = await database.open()
  ends.push(() => opened.close())

  const before = await server(database, old)
  worker(before, 'old', 21_000, old, [before.url])
  const client = before.client()
  const knows = async (name: string) =>
    (await client.ask<{ host: { reachability: string } | null }>('query ($name: String!) { host(name: $name) { reachability } }', { name }))
      .host?.reachability === 'REACHABLE'
  await until(() => knows('old'), 'the old worker is there')
  await createService(client, 'web', 3, {
    command: [process.execPath, built('examples/helloServer.js')],
    readiness: { http: { port: 'http', path: '/healthz' }, periodSeconds: 1 },
    stop: { drainSeconds: 0, graceSeconds: 10 },
  })
  const watches = [new EndpointWatch(client, 'web')]
  ends.push(() => {
    for (const watch of watches) watch.close()
  })
  await watches[0]?.until('three serve', (table) => table.length === 3, 90)

  // From here on somebody scales through every server there is, also in the moment in which the new one changes the tables.
  const clients = [client]
  let scales = 0
  let writes = true
  const writing = (async () => {
    for (; writes; scales++) {
      const by = clients[scales % clients.length] ?? client
      await scale(by, 'web', 2 + (scales % 3))
    }
  })()
  const after = await server(database, next)
  expect(after.output).toContain('Applied the migration 99990101000000_next.')
  clients.push(after.client())
  watches.push(new EndpointWatch(after.client(), 'web'))
  const both = scales + 20
  await until(() => scales > both, 'both take changes')

  // The new worker comes too early: the old server says why it is of no use, the new one takes it.
  const early = worker(before, 'early', 21_100, next, [before.url])
  await until(() => early.output.includes('The worker speaks version 2 of the protocol, this server takes version 1'), 'it is told why')
  expect(early.output).toContain('upgrade the servers first, then the workers')
  expect(await knows('early')).toBe(false)
  await early.end()
  worker(before, 'new', 21_200, next, [before.url, after.url])
  await until(() => knows('new'), 'the new worker has found the new server')

  // The old server dies, and comes back to tables that it does not know.
  writes = false
  await writing
  watches[0]?.close()
  await before.end('SIGKILL')
  await before.start()
  expect(before.output).toMatch(
    /A newer version has expanded this database by the migrations? .*99990101000000_next, and this version goes on/,
  )
  const again = before.client()
  watches.push(new EndpointWatch(again, 'web'))
  await change(again, 'drainHost', 'DrainHostInput', { host: 'old' })
  await scale(again, 'web', 4)
  for (const watch of watches.slice(1)) {
    await watch.until(
      'four serve on the new worker',
      (table) => table.length === 4 && table.every(({ hostPort }) => /:212\d\d$/.test(hostPort)),
      90,
    )
  }

  for (const watch of watches) watch.close()

  // A release later nobody needs what the new one brought or the old one had: the old server may not come back to that, the new one may.
  const late = release(
    Release.like({
      added: { ...added, '99990201000000_late': '-- needs 99990101000000_next\nALTER TABLE "Service" DROP COLUMN "colour";' },
      protocol: 2,
    }),
  )
  expect(await before.end()).toBe(0)
  const last = await server(database, late)
  await after.end('SIGKILL')
  await after.start()
  expect(after.output).toContain('goes on with it')
  await scale(after.client(), 'web', 1)
  await scale(last.client(), 'web', 2)
  await before.start()
  expect(await before.end()).toBe(1)
  expect(before.output).toContain('the migration 99990201000000_late, which this version does not know and cannot go on with')
  expect(before.output).toContain('Start that version or a later one')

  expect(watches.flatMap(({ faults }) => faults)).toEqual([])
  expect(await new FactAudit(opened).look()).toEqual([])
})
