import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import type { ApiClient } from '../support/drivers/apiClient.ts'
import { change, createService, scale } from '../support/drivers/apiService.ts'
import { EndpointWatch } from '../support/drivers/endpointWatch.ts'
import { pidOf } from '../support/drivers/hostScene.ts'
import { ServerProcess } from '../support/drivers/serverProcess.ts'
import { WorkerProcess } from '../support/drivers/workerProcess.ts'
import { emptyPostgreSQL, type TestDatabase } from '../support/fixtures/databases.ts'
import { freePort } from '../support/fixtures/freePort.ts'
import { helloProfile } from '../support/fixtures/hello.ts'
import { expandingMigration, Release, upgradesFrom, upgradeTestIsOff } from '../support/fixtures/release.ts'
import { until } from '../support/fixtures/until.ts'
import { FactAudit } from '../support/models/audit/factAudit.ts'

const leaseSeconds = 10

const added = { '99990101000000_next': expandingMigration }

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

function release(made: Release): Release {
  ends.push(() => made.remove())
  return made
}

/** Not started yet, on a port of its own for good. */
async function server(database: TestDatabase, of: Release): Promise<{ process: ServerProcess; url: string }> {
  const port = String(await freePort())
  const env = {
    DATABASE_URL: database.options.url,
    XCE_PORT: port,
    XCE_LEASE_SECONDS: String(leaseSeconds),
    XCE_GRACE_SECONDS: '120',
  }
  const made = new ServerProcess(env, mkdtempSync(path.join(tmpdir(), 'xce-server-')), of.program('server.js'))
  ends.push(() => made.clean())
  return { process: made, url: `http://127.0.0.1:${port}/graphql` }
}

function worker(first: ServerProcess, name: string, from: number, of: Release, urls: readonly string[]): WorkerProcess {
  const env = { XCE_WORKER_SERVER_FILE: '', XCE_WORKER_SERVERS: urls.join(',') }
  const made = new WorkerProcess(first, name, from, env, of.program('worker.js'))
  ends.push(() => made.end('SIGUSR2'))
  made.start()
  return made
}

function watch(client: ApiClient, service: string): EndpointWatch {
  const made = new EndpointWatch(client, service)
  ends.push(() => made.close())
  return made
}

/** What the tables say, whatever schema they have. */
async function tables(database: TestDatabase) {
  const client = new pg.Client({ connectionString: database.options.url })
  await client.connect()
  ends.push(() => client.end())
  const rows = async <Row>(sql: string, ...values: unknown[]) => (await client.query(sql, values)).rows as Row[]
  return {
    now: async () => (await rows<{ now: Date }>('SELECT clock_timestamp() AS now'))[0]?.now,
    /** Of the active replicas of a service, by name: which workers of their hosts they are on. */
    workersOf: async (service: string) => {
      const found = await rows<{ worker: string | null }>(
        `SELECT w."name" AS worker FROM "Replica" r JOIN "Service" s ON s."id" = r."serviceId"
         LEFT JOIN "Worker" w ON w."id" = r."workerId" AND w."hostId" = r."hostId"
         WHERE s."name" = $1 AND r."state" NOT IN ('STOPPING', 'ENDED') ORDER BY w."name"`,
        service,
      )
      return found.map(({ worker: name }) => name)
    },
    /** Of the active replicas of a service, the first first: whether the service has told the addresses that their hosts have. */
    knowAddresses: async (service: string) => {
      const found = await rows<{ know: boolean }>(
        `SELECT r."hostAddresses" = h."addresses" AS know FROM "Replica" r JOIN "Service" s ON s."id" = r."serviceId" JOIN "Host" h ON h."id" = r."hostId"
         WHERE s."name" = $1 AND r."state" NOT IN ('STOPPING', 'ENDED') ORDER BY r."index"`,
        service,
      )
      return found.map(({ know }) => know)
    },
    isRenewedAfter: async (worker: string, instant: Date | undefined, seconds: number) =>
      (
        await rows(
          `SELECT FROM "Worker" WHERE "name" = $1 AND "lastSeenAt" > $2::timestamptz + make_interval(secs => $3)`,
          worker,
          instant,
          seconds,
        )
      ).length === 1,
  }
}

test('an old and a new server side by side on one PostgreSQL, while services change: servers first, then workers, then what the old one needed', async (context) => {
  if (upgradesFrom === null) {
    console.log(upgradeTestIsOff)
    return context.skip(upgradeTestIsOff)
  }
  console.log(`The old release is ${upgradesFrom}.`)
  const [old, next] = [release(Release.of(upgradesFrom)), release(Release.like({ added, protocol: 2 }))]
  // The old server makes its own schema in it.
  const database = await emptyPostgreSQL()
  ends.push(() => database.drop())
  const rows = await tables(database)

  const [{ process: before, url: beforeUrl }, { process: after, url: afterUrl }] = [
    await server(database, old),
    await server(database, next),
  ]
  await before.start()
  expect(before.output).toContain(`Applied ${named(old.migrations)}.`)
  const oldWorker = worker(before, 'old', 21_000, old, [beforeUrl, afterUrl])
  const client = before.client()
  const host = async (name: string) =>
    (
      await client.ask<{ host: { reachability: string; reachabilitySince: string } | null }>(
        'query ($name: String!) { host(name: $name) { reachability reachabilitySince } }',
        { name },
      )
    ).host
  const knows = async (name: string) => (await host(name))?.reachability === 'REACHABLE'
  await until(() => knows('old'), 'the old worker is there')
  const cameAt = (await host('old'))?.reachabilitySince
  const hello = helloProfile()
  await createService(client, 'web', 3, hello)
  await createService(client, 'steady', 2, hello)
  const watches = [watch(client, 'web')]
  await watches[0]?.until('three serve', (table) => table.length === 3, 90)
  // Nothing happens to these but the upgrade.
  const steady = watch(client, 'steady')
  const served = await steady.until('two more serve', (table) => table.length === 2, 90)
  const pids = await Promise.all(served.map(pidOf))

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
  // Where the story fails it ends with it; otherwise its own end is waited for.
  ends.push(() => {
    writes = false
    return writing.catch(() => undefined)
  })
  const scaled = (times: number, what: string) => {
    const enough = scales + times
    return until(() => scales >= enough, what)
  }
  await after.start()
  expect(after.output).toContain(`Applied ${named(next.migrations.filter((name) => !old.migrations.includes(name)))}.`)
  clients.push(after.client())
  watches.push(watch(after.client(), 'web'))
  await scaled(20, 'both take changes')

  // The old server alone goes on with the new tables.
  clients.pop()
  await scaled(2, 'the new one has answered')
  expect(await after.end()).toBe(0)
  await scale(client, 'steady', 3)
  await steady.until('a third one serves', (table) => table.length === 3, 90)
  expect(await rows.workersOf('steady')).toEqual(['old', 'old', 'old'])
  expect(await rows.knowAddresses('steady')).toEqual([true, true, true])
  await scaled(10, 'the old one alone takes changes')
  await after.start()
  expect(after.output).not.toContain('Applied')
  clients.push(after.client())
  watches[1]?.resumeOn(after.client())
  await scaled(20, 'both take changes again')

  // The new worker comes too early: the old server says why it is of no use, the new one takes it.
  const early = worker(before, 'early', 21_100, next, [beforeUrl])
  await until(
    () => early.output.includes('The worker speaks version 2 of the protocol, this server takes version 1'),
    'it is told why',
  )
  expect(early.output).toContain('upgrade the servers first, then the workers')
  expect(await knows('early')).toBe(false)
  await early.end()
  worker(before, 'new', 21_200, next, [beforeUrl, afterUrl])
  await until(() => knows('new'), 'the new worker has found the new server')

  // The old server dies: its worker goes on at the new one, for longer than a lease, and takes replicas from it.
  writes = false
  await writing
  watches[0]?.close()
  const diedAt = await rows.now()
  await before.end('SIGKILL')
  steady.resumeOn(after.client())
  await change(after.client(), 'cordonHost', 'CordonHostInput', { host: { name: 'new' } })
  await scale(after.client(), 'steady', 4)
  await until(
    () => rows.isRenewedAfter('old', diedAt, leaseSeconds),
    'the old worker renews its lease at the new server',
  )
  expect(oldWorker.output).toContain(`"url":"${afterUrl}"`)
  await steady.until('the fourth serves', (table) => table.length === 4, 90)
  expect(await rows.workersOf('steady')).toEqual(['old', 'old', 'old', 'old'])
  await change(after.client(), 'uncordonHost', 'UncordonHostInput', { host: { name: 'new' } })

  // It comes back to tables that it does not know. So far nobody was unreachable, and nothing was lost.
  await before.start()
  expect(before.output).toMatch(
    /A newer version has expanded this database by the migrations? .*99990101000000_next, and this version goes on/,
  )
  expect(await host('old')).toEqual({ reachability: 'REACHABLE', reachabilitySince: cameAt })
  expect(steady.frames.flatMap(({ removed }) => removed)).toEqual([])
  expect(await Promise.all(steady.table.slice(0, 2).map(pidOf))).toEqual(pids)
  const again = before.client()
  watches.push(watch(again, 'web'))
  await change(again, 'drainHost', 'DrainHostInput', { host: { name: 'old' } })
  await scale(again, 'web', 4)
  for (const one of [...watches.slice(1), steady]) {
    await one.until(
      'four serve on the new worker',
      (table) => table.length === 4 && table.every(({ hostPort }) => /:212\d\d$/.test(hostPort)),
      90,
    )
  }
  for (const one of watches) one.close()

  // A release later nobody needs what the new one brought or the old one had: the old server may not come back to that, the new one may.
  // This tree's release, which audits, is an old one too then.
  const opened = await database.open()
  ends.push(() => opened.close())
  const late = release(
    Release.like({
      added: {
        ...added,
        '99990201000000_late': '-- needs 99990101000000_next\nALTER TABLE "Service" DROP COLUMN "colour";',
      },
      protocol: 2,
    }),
  )
  steady.close()
  expect(await before.end()).toBe(0)
  const { process: last, url: lastUrl } = await server(database, late)
  await last.start()
  await after.end('SIGKILL')
  await after.start()
  expect(after.output).toContain('goes on with it')
  await scale(after.client(), 'web', 1)
  await scale(last.client(), 'web', 2)
  await before.start()
  expect(await before.end()).toBe(1)
  expect(before.output).toContain(
    'the migration 99990201000000_late, which this version does not know and cannot go on with',
  )
  expect(before.output).toContain('Start that version or a later one')

  // All servers are new: the old worker's turn. The new one finds what it left in its directory.
  const end = watch(last.client(), 'steady')
  await end.until('all there is', (table) => table.length === 4)
  await change(last.client(), 'uncordonHost', 'UncordonHostInput', { host: { name: 'old' } })
  await change(last.client(), 'cordonHost', 'CordonHostInput', { host: { name: 'new' } })
  await scale(last.client(), 'steady', 6)
  const six = await end.until('six serve', (table) => table.length === 6, 90)
  const sixPids = await Promise.all(six.map(pidOf))
  expect(await rows.workersOf('steady')).toEqual(['new', 'new', 'new', 'new', 'old', 'old'])
  await oldWorker.end()
  const upgraded = worker(before, 'old', 21_000, next, [afterUrl, lastUrl])
  const restartedAt = await rows.now()
  await until(() => rows.isRenewedAfter('old', restartedAt, leaseSeconds), 'the upgraded worker renews its lease')
  expect(upgraded.output).toContain('"stale":0')
  expect(end.table).toEqual(six)
  expect(await Promise.all(six.map(pidOf))).toEqual(sixPids)

  expect([...watches, steady, end].flatMap(({ faults }) => faults)).toEqual([])
  expect(await new FactAudit(opened).look()).toEqual([])
})

/** As a server's log says it. */
function named(migrations: readonly string[]): string {
  return `the migration${migrations.length === 1 ? '' : 's'} ${migrations.join(', ')}`
}
