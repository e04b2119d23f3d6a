import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DataDirectoryError, embeddedMajor } from '../../../src/store/database/embedded.ts'
import { DirectoryInUseError } from '../../../src/store/database/lock.ts'
import { freshEmbedded, type TestDatabase } from '../../support/fixtures/databases.ts'

let fresh: TestDatabase
beforeEach(async () => {
  fresh = await freshEmbedded()
})
afterEach(() => fresh.drop())

const inDatabase = (...names: string[]) => path.join(fresh.options.dataDirectory, 'database', ...names)

test('PGlite is of the major version that the stamp names, and the directory is closed to others', async () => {
  const database = await fresh.open()
  const [row] = await database.prisma.$queryRaw<{ version: string }[]>`SHOW server_version`
  expect(Object.values(row ?? {})[0]).toMatch(new RegExp(`^${embeddedMajor}\\.`))
  expect(readFileSync(inDatabase('PG_VERSION'), 'utf8').trim()).toBe(String(embeddedMajor))
  expect(statSync(inDatabase()).mode & 0o777).toBe(0o700)
  await database.close()
})

test('what was committed is there at the next start', async () => {
  const first = await fresh.open()
  await first.prisma.token.create({ data: { id: 't', hash: 'h', subject: 's', roles: ['admin'] } })
  await first.close()
  const second = await fresh.open()
  expect(await second.prisma.token.findMany({ select: { id: true, roles: true } })).toEqual([
    { id: 't', roles: ['admin'] },
  ])
  await second.close()
})

test('a second server on the same directory is refused', async () => {
  const database = await fresh.open()
  await expect(fresh.open()).rejects.toThrow(DirectoryInUseError)
  await database.close()
})

test('a directory of another PostgreSQL is refused with what to do, and is free afterwards', async () => {
  writeFileSync(inDatabase('PG_VERSION'), '17\n')
  const refusal = await fresh.open().catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(DataDirectoryError)
  expect(String(refusal)).toMatch(/written by PostgreSQL 17.*npm run dump/s)
  writeFileSync(inDatabase('PG_VERSION'), `${embeddedMajor}\n`)
  await (await fresh.open()).close()
})

test('a first start that was killed half-way is put aside, and a new database made', async () => {
  rmSync(inDatabase('xce-database'))
  rmSync(inDatabase('global'), { recursive: true })
  const database = await fresh.open()
  expect(await database.prisma.feed.count()).toBe(1)
  expect(existsSync(`${inDatabase()}.unfinished`)).toBe(true)
  await database.close()
}, 180_000)
