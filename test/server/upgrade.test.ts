import path from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { afterEach, expect, test, vi } from 'vitest'
import { migrate, readMigrations } from '../../src/store/database/migrate.ts'
import { contractionsOf } from '../../src/tools/contractions.ts'
import { ServerProcess } from '../support/drivers/serverProcess.ts'
import { WorkerProcess } from '../support/drivers/workerProcess.ts'
import { expandingMigration, Release } from '../support/fixtures/release.ts'
import { until } from '../support/fixtures/until.ts'

// What is promised of upgrades, at the size of npm test: this release beside a later one, which is this tree with more. `npm run test:long` has a
// whole upgrade, with real processes of both.

vi.setConfig({ testTimeout: 120_000 })

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const next = '99990101000000_next'
const late = '99990201000000_late'

/** A later release. */
function later(changes: Parameters<typeof Release.like>[0]): Release {
  const release = Release.like(changes)
  ends.push(() => release.remove())
  return release
}

/** A server of this release, with an embedded database that a later release has migrated. */
async function serverAfter(added: Readonly<Record<string, string>>): Promise<ServerProcess> {
  const server = new ServerProcess()
  ends.push(async () => expect(await server.clean()).toEqual([]))
  const pglite = await PGlite.create(path.join(server.directory, 'database'))
  await migrate(
    { exec: (script) => pglite.exec(script), query: (sql, params) => pglite.query(sql, params) },
    later({ added }).migrationsDirectory,
  )
  await pglite.close()
  return server
}

test('a database that a later release has only expanded serves this one, which says so', async () => {
  const server = await serverAfter({ [next]: expandingMigration })
  await server.start()
  expect(await server.client().ask('{ services { nodes { name } } }')).toEqual({ services: { nodes: [] } })
  expect(server.output).toContain(
    `A newer version has expanded this database by the migration ${next}, and this version goes on with it: upgrade this server too.`,
  )
})

test('a database from which a later release has taken what this one needs is refused in a sentence', async () => {
  const server = await serverAfter({
    [next]: expandingMigration,
    [late]: `-- needs ${next}\nALTER TABLE "Service" DROP COLUMN "paused";`,
  })
  await server.start()
  expect(await server.end()).toBe(1)
  expect(server.output.trim().split('\n')).toHaveLength(1)
  expect(server.output).toContain(
    `The database has the migration ${late}, which this version does not know and cannot go on with: a newer version upgraded it, and servers must know ${next} since. Start that version or a later one.`,
  )
})

test('a worker of a later protocol is refused in a sentence that says what to upgrade first, and registers nowhere', async () => {
  const server = new ServerProcess()
  ends.push(async () => expect(await server.clean()).toEqual([]))
  await server.start()
  const worker = new WorkerProcess(server, 'early', 31_200, {}, later({ protocol: 2 }).program('worker.js'))
  ends.push(() => worker.end())
  worker.start()
  const sentence =
    'The worker speaks version 2 of the protocol, this server takes version 1: upgrade the servers first, then the workers.'
  await until(() => worker.output.includes(sentence), 'it says why')
  expect(await server.client().ask('{ hosts { nodes { name } } }')).toEqual({ hosts: { nodes: [] } })
})

test('the migrations of this release only expand, and so may the next one; what takes something away is told', async () => {
  const pglite = await PGlite.create()
  ends.push(() => pglite.close())
  const connection = {
    exec: (script: string) => pglite.exec(script),
    query: (sql: string, params?: unknown[]) => pglite.query(sql, params),
  }
  for (const migration of await readMigrations()) expect(await contractionsOf(connection, migration)).toEqual([])
  expect(await contractionsOf(connection, { script: expandingMigration })).toEqual([])
  const script = 'ALTER TABLE "Service" DROP COLUMN "paused"; ALTER TABLE "Worker" RENAME COLUMN "kernel" TO "system";'
  expect(await contractionsOf(connection, { script })).toEqual(
    expect.arrayContaining([
      'column Service.paused is dropped or renamed',
      'column Worker.kernel is dropped or renamed',
    ]),
  )
})
