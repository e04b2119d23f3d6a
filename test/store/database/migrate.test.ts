import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import {
  type MigrationConnection,
  MigrationError,
  migrate,
  migrationsDirectory,
} from '../../../src/store/database/migrate.ts'
import { emptyPostgreSQL } from '../../support/fixtures/databases.ts'
import { copyTemplate } from '../../support/fixtures/globalSetup.ts'
import { until } from '../../support/fixtures/until.ts'

/** An empty schema of its own for each test; both databases hold several. */
interface Server {
  connect(): Promise<MigrationConnection & { end(): Promise<void> }>
  close(): Promise<void>
}

async function onPGlite(): Promise<Server> {
  const directory = copyTemplate(inject('embeddedTemplate'))
  const pglite = await PGlite.create(path.join(directory, 'database'))
  return {
    connect: async () => ({
      exec: (script) => pglite.exec(script),
      query: (sql, params) => pglite.query(sql, params),
      end: async () => undefined,
    }),
    close: async () => {
      await pglite.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function onPostgreSQL(): Promise<Server> {
  const { options, drop } = await emptyPostgreSQL()
  return {
    connect: async () => {
      const client = new pg.Client({ connectionString: options.url })
      await client.connect()
      return {
        exec: (script) => client.query(script),
        query: (sql, params) => client.query(sql, params),
        end: () => client.end(),
      }
    },
    close: drop,
  }
}

describe.each([
  ['embedded', onPGlite],
  ['PostgreSQL', onPostgreSQL],
] as const)('%s', (name, start) => {
  let server: Server
  let connection: Awaited<ReturnType<Server['connect']>>
  let directory: string
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.close())
  beforeEach(async () => {
    connection = await server.connect()
    await connection.exec('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
    directory = mkdtempSync(path.join(tmpdir(), 'xce-migrations-'))
    cpSync(migrationsDirectory, directory, { recursive: true })
  })
  afterEach(async () => {
    await connection.end()
    rmSync(directory, { recursive: true, force: true })
  })

  const add = (name: string, script: string) => {
    mkdirSync(path.join(directory, name))
    writeFileSync(path.join(directory, name, 'migration.sql'), script)
  }
  const tables = async () =>
    (
      await connection.query(
        `SELECT count(*)::int AS count FROM information_schema.tables WHERE table_schema = 'public'`,
      )
    ).rows

  test('applies all once, in the order of their names', async () => {
    const shipped = await migrate(connection, directory)
    expect(shipped.applied.length).toBeGreaterThan(0)
    expect(await migrate(connection, directory)).toEqual({ applied: [], newer: [] })
    add('99990101000001_second', 'ALTER TABLE extra ADD COLUMN b int;')
    add('99990101000000_first', 'CREATE TABLE extra (a int); INSERT INTO extra VALUES (1);')
    expect((await migrate(connection, directory)).applied).toEqual(['99990101000000_first', '99990101000001_second'])
    expect((await connection.query('SELECT * FROM extra')).rows).toEqual([{ a: 1, b: null }])
  })

  test('a failing one is undone as a whole and can be applied when it is repaired', async () => {
    await migrate(connection, directory)
    const before = await tables()
    add('99990101000000_bad', 'CREATE TABLE half (a int); SELECT 1 / 0;')
    await expect(migrate(connection, directory)).rejects.toThrow(
      /99990101000000_bad failed and was undone: division by zero/,
    )
    expect(await tables()).toEqual(before)
    writeFileSync(path.join(directory, '99990101000000_bad', 'migration.sql'), 'CREATE TABLE whole (a int);')
    expect((await migrate(connection, directory)).applied).toEqual(['99990101000000_bad'])
  })

  test('refuses a file that was edited after it was applied', async () => {
    const [first] = (await migrate(connection, directory)).applied
    appendFileSync(path.join(directory, first ?? '', 'migration.sql'), '-- edited')
    const refusal = await migrate(connection, directory).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(MigrationError)
    expect(String(refusal)).toContain('edited since')
  })

  /** A newer version applies it, and the older one looks again. */
  const applyNewer = async (name: string, script: string) => {
    add(name, script)
    await migrate(connection, directory)
    rmSync(path.join(directory, name), { recursive: true })
  }

  test('goes on with a database that a newer version only expanded, and applies what is its own', async () => {
    await migrate(connection, directory)
    await applyNewer('99990101000001_newer', 'CREATE TABLE extra (a int);')
    add('99990101000000_own', 'CREATE TABLE own (a int);')
    expect(await migrate(connection, directory)).toEqual({
      applied: ['99990101000000_own'],
      newer: ['99990101000001_newer'],
    })
  })

  test('goes on where a newer version took away what it does not need, and refuses where it needs it', async () => {
    const [first = ''] = (await migrate(connection, directory)).applied
    await applyNewer('99990101000000_known', `-- needs ${first}\nSELECT 1;`)
    expect((await migrate(connection, directory)).newer).toEqual(['99990101000000_known'])
    await applyNewer('99990101000001_unknown', '-- needs 99990101000000_known\nSELECT 1;')
    await expect(migrate(connection, directory)).rejects.toThrow(
      /99990101000001_unknown, which this version does not know and cannot go on with: a newer version upgraded it, and servers must know 99990101000000_known since/,
    )
  })

  test('refuses a newer migration that says nothing of who can go on with it', async () => {
    await applyNewer('99990101000000_newer', 'SELECT 1;')
    await connection.exec(`UPDATE "_prisma_migrations" SET "logs" = NULL WHERE "migration_name" LIKE '9999%'`)
    await expect(migrate(connection, directory)).rejects.toThrow(
      /99990101000000_newer, which this version does not know.*Start that version/,
    )
  })

  // PGlite has one session and one server.
  test.runIf(name === 'PostgreSQL')('one that has to wait for a table keeps nobody else from it', async () => {
    await migrate(connection, directory)
    add('99990101000000_wide', 'ALTER TABLE "Host" ADD COLUMN "rack" text;')
    const [long, other] = [await server.connect(), await server.connect()]
    await long.exec('BEGIN; SELECT count(*) FROM "Host"')
    const migrating = migrate(connection, directory)
    const isWaiting = `SELECT FROM pg_locks WHERE NOT granted AND relation = '"Host"'::regclass`
    await until(async () => (await other.query(isWaiting)).rows.length > 0, 'it waits for the table')
    // Behind it in the queue; the long one goes on meanwhile.
    expect((await other.query('SELECT count(*)::int AS hosts FROM "Host"')).rows).toEqual([{ hosts: 0 }])
    await long.exec('COMMIT')
    expect((await migrating).applied).toEqual(['99990101000000_wide'])
    await Promise.all([long.end(), other.end()])
  })

  test.runIf(name === 'PostgreSQL')(
    'one that is the victim of a deadlock with a server at work tries again',
    async () => {
      await migrate(connection, directory)
      add(
        '99990101000000_locks',
        'LOCK TABLE "Queue" IN ACCESS EXCLUSIVE MODE; LOCK TABLE "Host" IN ACCESS EXCLUSIVE MODE;',
      )
      const [atWork, other] = [await server.connect(), await server.connect()]
      await atWork.exec('BEGIN; SELECT count(*) FROM "Host"')
      // Whoever notices a deadlock first is its victim.
      await connection.exec("SET deadlock_timeout = '100ms'; SET log_lock_waits = off")
      const migrating = migrate(connection, directory)
      const isWaiting = `SELECT FROM pg_locks WHERE NOT granted AND relation = '"Host"'::regclass`
      await until(async () => (await other.query(isWaiting)).rows.length > 0, 'it waits for the table')
      expect((await atWork.query('SELECT count(*)::int AS queues FROM "Queue"')).rows).toHaveLength(1)
      await atWork.exec('COMMIT')
      expect((await migrating).applied).toEqual(['99990101000000_locks'])
      await Promise.all([atWork.end(), other.end()])
    },
  )

  test.runIf(name === 'PostgreSQL')('two servers that start at once apply each once', async () => {
    const other = await server.connect()
    const runs = await Promise.all([migrate(connection, directory), migrate(other, directory)])
    expect(runs.flatMap(({ applied }) => applied).filter((name) => name.endsWith('_init'))).toHaveLength(1)
    await other.end()
  })
})
