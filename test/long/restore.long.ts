import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { firstFrames } from '../feed/subscriber.ts'
import type { ApiClient } from '../support/drivers/apiClient.ts'
import { aliveReplicas, change, createService, scale } from '../support/drivers/apiService.ts'
import { EndpointWatch } from '../support/drivers/endpointWatch.ts'
import { hostScenes, pidOf } from '../support/drivers/hostScene.ts'
import { built } from '../support/fixtures/built.ts'
import { copyPostgreSQL, type TestDatabase } from '../support/fixtures/databases.ts'
import { helloCommand, helloProfile } from '../support/fixtures/hello.ts'
import { isRunning, kill } from '../support/fixtures/processes.ts'
import { until } from '../support/fixtures/until.ts'
import { judgeRows } from '../support/models/audit/judgeRows.ts'

const leaseSeconds = 3

const scratch = mkdtempSync(path.join(tmpdir(), 'xce-restore-'))
const ends: (() => unknown)[] = []
const databases: TestDatabase[] = []
afterEach(async () => {
  for (const database of databases.splice(0)) await database.drop()
  rmSync(scratch, { recursive: true, force: true })
})
const start = hostScenes()
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** Runs `npm run restored`, as docs/operate.md tells whoever restores a backup. */
function markRestored({ options }: TestDatabase): string {
  const env = { PATH: process.env['PATH'], DATABASE_URL: options.url }
  return execFileSync(process.execPath, [built('tools/restored.js')], { env, encoding: 'utf8' })
}

/** The rows of one statement in psql's place. */
async function psql<Row>({ options }: TestDatabase, sql: string): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: options.url })
  await client.connect()
  try {
    return (await client.query(sql)).rows as Row[]
  } finally {
    await client.end()
  }
}

const streams = {
  servicesChanged: '(after: $after) { kind revision services { name } }',
  eventAdded: '(after: $after) { kind revision events { message } }',
}

/** A service of small HTTP servers, and who follows it. */
async function serve(
  client: ApiClient,
  name: string,
  replicas: number,
  command = helloCommand(),
): Promise<EndpointWatch> {
  await createService(client, name, replicas, helloProfile({ command }))
  return follow(client, name)
}

function follow(client: ApiClient, name: string): EndpointWatch {
  const watch = new EndpointWatch(client, name)
  ends.push(() => watch.close())
  return watch
}

const has = (watch: EndpointWatch, count: number) =>
  watch.until(`${count} serve`, (table) => table.length === count, 90)
const pidsOf = (watch: EndpointWatch) => Promise.all(watch.table.map(pidOf))
const open = (client: ApiClient, host: string) =>
  change(client, 'uncordonHost', 'UncordonHostInput', { host: { name: host } })
const cordon = (client: ApiClient, host: string) =>
  change(client, 'cordonHost', 'CordonHostInput', { host: { name: host } })

test('a backup is restored after much has changed: what it knows runs on, what it does not know is stopped, and subscribers hear no wrong change', async () => {
  const scene = await start(leaseSeconds, 60, { servers: 1 })
  const { client, server } = scene
  await scene.worker('quiet')
  const web = await serve(client, 'web', 3)
  const few = await serve(client, 'few', 2)
  // Its replica runs, and is ready only once this file is there.
  const gate = path.join(scratch, 'gate')
  const late = await serve(client, 'late', 1, [
    'sh',
    '-c',
    `until test -e "$0"; do sleep 0.1; done; exec "$@"`,
    gate,
    ...helloCommand(),
  ])
  await until(async () => (await aliveReplicas(client, 'late'))[0]?.state === 'RUNNING', 'the late one runs')
  await cordon(client, 'quiet')
  const restarted = await scene.worker('restarted')
  const other = await serve(client, 'other', 2)
  await open(client, 'quiet')
  await Promise.all([has(web, 3), has(few, 2), has(other, 2)])
  kill((await pidsOf(few))[1], 'SIGKILL')
  await few.until('it is started again in place', (table) => table.length === 2 && table[1]?.start === 2)
  const known = { web: web.table, few: few.table, other: other.table }
  const behind = follow(client, 'web')
  await has(behind, 3)

  const backup = await copyPostgreSQL(scene.database as TestDatabase)
  databases.push(backup)
  await until(
    async () => (await fetch(new URL('/readyz', server.url))).status === 200,
    'the server has its database back',
  )

  // Life goes on.
  writeFileSync(gate, '')
  await has(late, 1)
  const [killed] = await pidsOf(web)
  kill(killed, 'SIGKILL')
  await web.until('it is started again in place', (table) => table.length === 3 && table[0]?.start === 2)
  await scale(client, 'few', 1)
  await scale(client, 'web', 4)
  await Promise.all([has(web, 4), has(few, 1)])
  const [, , , added] = await pidsOf(web)
  await restarted.end()
  restarted.start()
  await until(() => restarted.output.split('"registered"').length === 3, 'it has registered again')
  await cordon(client, 'quiet')
  await cordon(client, 'restarted')
  const joined = await scene.worker('joined')
  const newer = await serve(client, 'newer', 2)
  await Promise.all([has(newer, 2), has(other, 2), has(behind, 4)])
  const unknown = [added, ...(await pidsOf(newer))]
  const runs = { web: (await pidsOf(web)).slice(0, 3), late: await pidsOf(late) }
  const fenced = await pidsOf(other)
  const had = await firstFrames(client, streams, null)
  const lostFacts = BigInt(had['servicesChanged']?.revision ?? 0)

  expect(await server.end()).toBe(0)
  const restored = await copyPostgreSQL(backup)
  databases.push(restored)
  expect(markRestored(restored)).toContain('workers are asked for everything when they connect.')
  // As a backup's are.
  await until(async () => {
    const [worker] = await psql<{ over: boolean }>(
      restored,
      'SELECT bool_and("leaseUntil" < clock_timestamp()) AS over FROM "Worker"',
    )
    return worker?.over
  }, 'its leases are over')
  const [feed] = await psql<{ head: string; floor: string }>(restored, 'SELECT "head", "floor" FROM "Feed"')
  expect(feed?.floor).toBe(feed?.head)
  await server.start({ DATABASE_URL: restored.options.url })
  const again = server.client()

  // Who was there before goes on from a SNAPSHOT.
  const resumed = await firstFrames(again, streams, had)
  for (const [field, { kind, revision }] of Object.entries(resumed)) {
    expect([field, kind]).toEqual([field, 'SNAPSHOT'])
    expect(BigInt(revision)).toBeGreaterThanOrEqual(BigInt(feed?.head ?? 0))
  }
  const lasts = new Map([web, few, late, other].map((watch) => [watch, watch.frames.length]))
  for (const watch of lasts.keys()) watch.resumeOn(again)

  // What the backup knows runs on, also what has changed since; what it does not know ends.
  await has(web, 3)
  expect(web.table.map(({ replicaId }) => replicaId)).toEqual(known.web.map(({ replicaId }) => replicaId))
  await web.until('the server knows the start', (table) => table.length === 3 && table[0]?.start === 2)
  expect(await pidsOf(web)).toEqual(runs.web)
  await has(late, 1)
  expect(await pidsOf(late)).toEqual(runs.late)
  await until(() => !unknown.some((pid) => pid !== undefined && isRunning(pid)), 'what it does not know is stopped')
  // What has ended since is started again.
  await until(async () => {
    const replicas = await aliveReplicas(again, 'few')
    return replicas.length === 2 && replicas.every(({ ready }) => ready)
  }, 'both serve again')
  await has(few, 2)
  const [, anew] = await pidsOf(few)
  kill(anew, 'SIGKILL')
  await few.until('its end is noticed', (table) => table.length === 1)
  await has(few, 2)

  // Whose registration it does not know begins anew.
  for (const { output } of [joined, restarted])
    expect(output).toContain('fenced: this worker stops all its replicas and registers again')
  expect(fenced.some(isRunning)).toBe(false)
  await other.until(
    'both are started again',
    (table) => table.length === 2 && !table.some(({ id }) => known.other.some((one) => one.id === id)),
    90,
  )
  for (const host of ['quiet', 'restarted', 'joined']) await scene.becomes(host, 'REACHABLE')
  await scale(again, 'web', 6)
  await has(web, 6)

  // One comes back when the new history has had more changes than the old one.
  for (let replicas = 5; ; replicas = 11 - replicas) {
    const [now] = await psql<{ grown: string }>(restored, 'SELECT "head" - "floor" AS grown FROM "Feed"')
    if (BigInt(now?.grown ?? 0) > lostFacts) break
    await scale(again, 'web', replicas)
  }
  lasts.set(behind, behind.frames.length)
  behind.resumeOn(again)
  await until(async () => {
    const [wanted] = await psql<{ count: number }>(
      restored,
      `SELECT "desiredReplicas" AS count FROM "Service" WHERE "name" = 'web'`,
    )
    return [web, behind].every(({ table }) => table.length === wanted?.count)
  }, 'both know what there is')
  expect(behind.table).toEqual(web.table)
  for (const [watch, count] of lasts) {
    const [last, snapshot] = watch.frames.slice(count - 1)
    expect(watch.faults).toEqual([`a SNAPSHOT at ${snapshot?.revision} after ${last?.revision}`])
  }
  const database = await restored.open()
  ends.push(() => database.close())
  expect(await judgeRows(database.prisma)).toEqual([])
})
