import { rmSync } from 'node:fs'
import path from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { afterEach, expect, inject, test, vi } from 'vitest'
import { type MigrationConnection, migrate } from '../../src/store/database/migrate.ts'
import { contractionsOf } from '../../src/tools/contractions.ts'
import { ServerProcess } from '../support/drivers/serverProcess.ts'
import { WorkerProcess } from '../support/drivers/workerProcess.ts'
import { copyTemplate } from '../support/fixtures/globalSetup.ts'
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

/** Brings the embedded database of a server that does not run to the schema of a later release. */
async function migrateBy(server: ServerProcess, release: Release): Promise<void> {
  const pglite = await PGlite.create(path.join(server.directory, 'database'))
  await migrate(connectionOf(pglite), release.migrationsDirectory)
  await pglite.close()
}

test('a database that a later release expands serves this one, which says so, until a later one takes away what this one needs', async () => {
  const server = new ServerProcess()
  ends.push(async () => expect(await server.clean()).toEqual([]))
  await migrateBy(server, later({ added: { [next]: expandingMigration } }))
  await server.start()
  expect(await server.client().ask('{ services { nodes { name } } }')).toEqual({ services: { nodes: [] } })
  expect(server.output).toContain(
    `A newer version has expanded this database by the migration ${next}, and this version goes on with it: upgrade this server too.`,
  )
  expect(await server.end()).toBe(0)

  const contracting = `-- needs ${next}\nALTER TABLE "Service" DROP COLUMN "paused";`
  await migrateBy(server, later({ added: { [next]: expandingMigration, [late]: contracting } }))
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

test('what the next migration only adds is no contraction of this release’s schema; what it takes away is told', async () => {
  const directory = copyTemplate(inject('embeddedTemplate'))
  const pglite = await PGlite.create(path.join(directory, 'database'))
  ends.push(async () => {
    await pglite.close()
    rmSync(directory, { recursive: true })
  })
  const connection = connectionOf(pglite)
  expect(await contractionsOf(connection, { script: expandingMigration })).toEqual([])
  const script = 'ALTER TABLE "Service" DROP COLUMN "paused"; ALTER TABLE "Worker" RENAME COLUMN "kernel" TO "system";'
  expect(await contractionsOf(connection, { script })).toEqual(
    expect.arrayContaining([
      'column Service.paused is dropped or renamed',
      'column Worker.kernel is dropped or renamed',
    ]),
  )
})

function connectionOf(pglite: PGlite): MigrationConnection {
  return { exec: (script) => pglite.exec(script), query: (sql, params) => pglite.query(sql, params) }
}
