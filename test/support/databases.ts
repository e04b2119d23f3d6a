import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, inject } from 'vitest'
import { type Database, openDatabase } from '../../src/store/database.ts'
import { copyTemplate, databaseUrl, templateDatabase } from './globalSetup.ts'

export const silent = pino({ level: 'silent' })

/** A database of a test's own, and what opens it again; that migrates it, where it is not. */
export interface TestDatabase {
  readonly kind: Database['kind']
  readonly options: { readonly dataDirectory: string; readonly url?: string }
  open(): Promise<Database>
  drop(): Promise<void>
}

export async function freshEmbedded(): Promise<TestDatabase> {
  const dataDirectory = copyTemplate(inject('embeddedTemplate'))
  return {
    kind: 'embedded',
    options: { dataDirectory },
    open: () => openDatabase({ dataDirectory, log: silent }),
    drop: async () => rmSync(dataDirectory, { recursive: true, force: true }),
  }
}

export function freshPostgreSQL(): Promise<TestDatabase> {
  return copyOf(templateDatabase)
}

/** A database without tables: a server makes its own schema in it. */
export function emptyPostgreSQL(): Promise<TestDatabase> {
  return copyOf('template1')
}

/** A copy of one as it is now. PostgreSQL copies what nobody is connected to: who uses it loses it for that moment. */
export async function copyPostgreSQL({ options }: TestDatabase): Promise<TestDatabase> {
  const name = new URL(options.url ?? '').pathname.slice(1)
  await onServer(`ALTER DATABASE "${name}" WITH ALLOW_CONNECTIONS false`)
  await onServer(`SELECT pg_terminate_backend("pid") FROM pg_stat_activity WHERE "datname" = '${name}'`)
  try {
    return await copyOf(name)
  } finally {
    await onServer(`ALTER DATABASE "${name}" WITH ALLOW_CONNECTIONS true`)
  }
}

/** `template`: to which nobody is connected. */
async function copyOf(template: string): Promise<TestDatabase> {
  const name = `xce_${randomUUID().replaceAll('-', '')}`
  const url = databaseUrl(inject('postgresqlUrl'), name)
  await onServer(`CREATE DATABASE "${name}" TEMPLATE "${template}"`)
  const options = { dataDirectory: tmpdir(), url }
  return {
    kind: 'postgresql',
    options,
    open: () => openDatabase({ ...options, log: silent }),
    drop: () => onServer(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`),
  }
}

/** One statement on the test server, or another one, outside of the test's database. */
export async function onServer(sql: string, url = inject('postgresqlUrl')): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

/** Runs the tests once on the embedded database and once on PostgreSQL, each file and kind on a database of its own. */
export function eachDatabase(define: (database: () => Database, test: () => TestDatabase) => void): void {
  describe.each([
    ['embedded', freshEmbedded],
    ['PostgreSQL', freshPostgreSQL],
  ] as const)('%s', (_name, fresh) => {
    let test: TestDatabase
    let database: Database
    beforeAll(async () => {
      test = await fresh()
      database = await test.open()
    })
    afterAll(async () => {
      await database?.close()
      await test?.drop()
    })
    define(
      () => database,
      () => test,
    )
  })
}
