import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createToken, findToken } from '../../src/store/access/tokens.ts'
import { type Database, openDatabase } from '../../src/store/database/database.ts'
import { migrationsDirectory } from '../../src/store/database/migrate.ts'
import { readFacts } from '../../src/store/read/readFacts.ts'
import { connectToDump, connectToLoad, type TransferTarget } from '../../src/store/transfer/connect.ts'
import { dumpLines } from '../../src/store/transfer/dump.ts'
import { loadLines } from '../../src/store/transfer/load.ts'
import { revisionRaise } from '../../src/store/transfer/restored.ts'
import { transferred } from '../../src/store/transfer/tables.ts'
import { readDumpFile, writeDumpFile } from '../../src/tools/dumpFile.ts'
import { Churn } from '../support/drivers/churn.ts'
import { TestStore } from '../support/drivers/store.ts'
import { freshEmbedded, freshPostgreSQL, onServer, silent, type TestDatabase } from '../support/fixtures/databases.ts'

const kinds = { embedded: freshEmbedded, PostgreSQL: freshPostgreSQL } as const
const scratch = mkdtempSync(path.join(tmpdir(), 'xce-dump-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

let files = 0
const newFile = () => path.join(scratch, `${++files}.xce`)
const targetOf = ({ options }: TestDatabase): TransferTarget => ({
  dataDirectory: options.dataDirectory,
  url: options.url ?? null,
})

async function dump(source: TestDatabase, file = newFile()): Promise<string> {
  const connection = await connectToDump(targetOf(source), silent)
  try {
    await writeDumpFile(file, dumpLines(connection, 'test'))
  } finally {
    await connection.close()
  }
  return file
}

async function load(file: string, target: TestDatabase, directory?: string) {
  const connection = await connectToLoad(targetOf(target), silent)
  try {
    return await loadLines(connection, readDumpFile(file), directory)
  } finally {
    await connection.close()
  }
}

/** Everything that is moved, as text, table by table. */
async function contentOf({ prisma }: Database): Promise<Record<string, string[]>> {
  const tables: Record<string, string[]> = {}
  for (const { table, order } of transferred) {
    const rows = await prisma.$queryRawUnsafe<{ row: string }[]>(
      `SELECT to_jsonb(t)::text AS row FROM "${table}" t ORDER BY ${order.map((name) => `"${name}"::text COLLATE "C"`).join(', ')}`,
    )
    tables[table] = rows.map(({ row }) => row)
  }
  return tables
}

/** Services that run, wait, were changed and are gone; keys, tokens, quarantined ports. */
async function fill(database: Database): Promise<{ token: string }> {
  const store = await TestStore.on(database)
  const remember = { subject: 's', operation: 'o', key: 'k', inputHash: 'h', result: null }
  const churn = await Churn.on(store, 3, 4)
  await churn.round()
  await store.create({ replicas: 5 })
  const [first] = churn.services
  if (first)
    await store.committer.submit(
      first,
      { kind: 'scale', replicas: 6, expectedRevision: null, actor: 'ä"\\\n' },
      remember,
    )
  const gone = await store.create({ replicas: 0 })
  await store.committer.submit(gone, { kind: 'delete', expectedRevision: null, actor: 'test' })
  await database.prisma.hostPort.create({
    data: {
      hostId: churn.reporter.hostId,
      port: 31_999,
      protocol: 'UDP',
      quarantinedUntil: new Date(1_900_000_000_123),
      conflicts: 2,
    },
  })
  await store.committer.stop()
  return { token: await createToken(database, { subject: 'alice', roles: ['admin', 'x,"y'] }) }
}

describe.each([
  ['embedded', 'PostgreSQL'],
  ['PostgreSQL', 'embedded'],
] as const)('from %s to %s', (from, to) => {
  let source: TestDatabase
  let target: TestDatabase
  beforeAll(async () => {
    source = await kinds[from]()
    target = await kinds[to]()
  })
  afterAll(async () => {
    await source.drop()
    await target.drop()
  })

  test('every row is there as it was; the revision is raised above all that were given, and commits go on from it', async () => {
    let database = await source.open()
    const { token } = await fill(database)
    const before = await contentOf(database)
    const { head } = await readFacts(database, null, 0)
    await database.close()
    const file = await dump(source)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const loaded = await load(file, target)
    expect(loaded.head).toBe(head + revisionRaise)

    database = await target.open()
    try {
      const after = await contentOf(database)
      // What workers have told since the dump is not in it.
      const told = before['Worker']?.map((row) => row.replace('"restored": false', '"restored": true'))
      for (const { table } of transferred)
        expect(after[table], table).toEqual(table === 'Worker' ? told : before[table])
      for (const table of ['Service', 'Replica', 'HostPort', 'Event', 'IdempotencyKey', 'Timer']) {
        expect(before[table]?.length, table).toBeGreaterThan(0)
      }
      expect(await findToken(database, token)).toMatchObject({ subject: 'alice', roles: ['admin', 'x,"y'] })
      const raised = await readFacts(database, null, 0)
      expect(raised).toMatchObject({ head: head + revisionRaise, floor: head + revisionRaise, facts: [] })
      const store = await TestStore.on(database)
      await store.create()
      const { facts } = await readFacts(database, raised.head, 100)
      expect(facts[0]?.revision).toBe(raised.head + 1n)
      await store.committer.stop()
    } finally {
      await database.close()
    }
    // An embedded database is opened four times.
  }, 180_000)

  test('a database that is not empty is refused, and stays as it was', async () => {
    const file = await dump(source)
    await expect(load(file, target)).rejects.toThrow(/not empty .*rows in .*Service/)
  })
})

test('a dump while servers go on is the state of one revision: every service as at that moment, and nothing of what came after', async () => {
  const source = await freshPostgreSQL()
  const target = await freshPostgreSQL()
  const database = await source.open()
  const store = await TestStore.on(database)
  try {
    const churn = await Churn.on(store, 4, 5)
    let stop = false
    let rounds = 0
    const churning = (async () => {
      while (!stop) {
        await churn.round()
        rounds++
      }
    })()
    // Every line waits for the churn to have gone on a little, so that pages fall into many moments.
    const connection = await connectToDump(targetOf(source), silent)
    const file = newFile()
    let lines = 0
    let events = 0
    await writeDumpFile(
      file,
      (async function* () {
        for await (const line of dumpLines(connection, 'test')) {
          if (++lines % 20 === 0) await store.create({ replicas: 1 })
          // History is read without a snapshot, which would slow every commit for as long as that takes.
          if (line.startsWith('{"Event"') && events++ === 0) expect(await openTransfers(database)).toBe(0)
          yield line
        }
      })(),
    )
    await connection.close()
    stop = true
    await churning
    expect(events).toBeGreaterThan(0)
    expect(rounds).toBeGreaterThan(0)
    const { header } = await load(file, target)
    const head = BigInt(header.head)
    expect((await readFacts(database, null, 0)).head).toBeGreaterThan(head + 20n)

    const restored = await target.open()
    try {
      expect(await restored.prisma.service.count({ where: { revision: { gt: head } } })).toBe(0)
      expect(await restored.prisma.event.count({ where: { revision: { gt: head } } })).toBe(0)
      expect(await restored.prisma.event.count()).toBe(
        await database.prisma.event.count({ where: { revision: { lte: head } } }),
      )
      await expectSound(restored)
    } finally {
      await restored.close()
    }
  } finally {
    await store.committer.stop()
    await database.close()
    await source.drop()
    await target.drop()
  }
})

/** Dumps of this database that are in a transaction. */
async function openTransfers({ prisma }: Database): Promise<number> {
  const [row] = await prisma.$queryRaw<[{ count: number }]>`SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'xce-services transfer' AND xact_start IS NOT NULL`
  return row.count
}

/** Counters and rows that different statements could have read at different moments agree. */
async function expectSound({ prisma }: Database): Promise<void> {
  const wrong = await prisma.$queryRaw`
    SELECT s."id", 'counts' AS what FROM "Service" s WHERE s."activeReplicas" <>
      (SELECT count(*) FROM "Replica" r WHERE r."serviceId" = s."id" AND r."state" IN ('PENDING', 'STARTING', 'RUNNING'))
    UNION ALL SELECT h."id", 'cpu' FROM "Host" h WHERE h."usedCpuMillis" <>
      (SELECT coalesce(sum(r."cpuMillis"), 0) FROM "Replica" r WHERE r."hostId" = h."id" AND r."state" <> 'ENDED')
    UNION ALL SELECT h."id", 'ports' FROM "Host" h WHERE h."usedPorts" <> (SELECT count(*) FROM "HostPort" p WHERE p."hostId" = h."id")
    UNION ALL SELECT p."id", 'quota' FROM "Project" p WHERE p."usedReplicas" <>
      (SELECT count(*) FROM "Replica" r JOIN "Service" s ON s."id" = r."serviceId" WHERE s."projectId" = p."id" AND r."holdsQuota")
    UNION ALL SELECT p."replicaId", 'port of nobody' FROM "HostPort" p WHERE p."replicaId" IS NOT NULL AND NOT EXISTS
      (SELECT FROM "Replica" r WHERE r."id" = p."replicaId" AND r."state" <> 'ENDED')
    UNION ALL SELECT r."id", 'ended after it' FROM "Replica" r JOIN "Service" s ON s."id" = r."serviceId"
      WHERE r."state" = 'ENDED' AND NOT EXISTS (SELECT FROM "Event" e WHERE e."serviceId" = s."id")`
  expect(wrong).toEqual([])
}

describe('what can be wrong', () => {
  let source: TestDatabase
  let target: TestDatabase
  let file: string
  beforeAll(async () => {
    source = await freshPostgreSQL()
    const database = await source.open()
    const store = await TestStore.on(database)
    await store.create({ replicas: 2 })
    await store.committer.stop()
    await database.close()
    file = await dump(source)
  })
  afterAll(() => source.drop())
  afterEach(() => target?.drop())

  const altered = (change: (lines: string[]) => string[]) => {
    const name = newFile()
    const lines = gunzipSync(readFileSync(file)).toString().trimEnd().split('\n')
    writeFileSync(name, gzipSync(`${change(lines).join('\n')}\n`))
    return name
  }
  const header = (over: object) => (lines: string[]) => {
    const first = JSON.parse(lines[0] ?? '') as { 'xce-dump': object }
    return [JSON.stringify({ 'xce-dump': { ...first['xce-dump'], ...over } }), ...lines.slice(1)]
  }

  test.each<[string, () => string, RegExp]>([
    ['a cut file', () => cut(file), /ends early: it is not whole/],
    ['no end', () => altered((lines) => lines.slice(0, -1)), /ends early.*Nothing was loaded/],
    [
      'a row is missing',
      () => altered((lines) => lines.filter((line) => !line.startsWith('{"Timer"')).toSpliced(-2, 1)),
      /promises \d+ rows of \w+ and has \d+/,
    ],
    ['another text file', () => text('hello\n'), /not a dump of XCE Services/],
    ['another gzip file', () => zipped('hello\n'), /not a dump of XCE Services/],
    ['an empty file', () => text(''), /not a dump of XCE Services|ends early/],
    ['a newer format', () => altered(header({ version: 2, software: '9.1' })), /format 2.*XCE Services 9\.1 or later/],
    [
      'a newer schema',
      () => altered(header({ migrations: ['29990101_x'], software: '9.1' })),
      /29990101_x.*XCE Services 9\.1 or later/,
    ],
    [
      'a table of later',
      () => altered((lines) => lines.toSpliced(1, 0, '{"Quux":{"id":"1"}}')),
      /Quux.*Nothing was loaded/,
    ],
    ['no file', () => path.join(scratch, 'nowhere'), /There is no file/],
  ])('%s is told in a sentence and leaves the database empty', async (_name, make, message) => {
    target = await freshPostgreSQL()
    const name = make()
    await expect(load(name, target)).rejects.toThrow(message)
    const database = await target.open()
    try {
      expect(await database.prisma.service.count()).toBe(0)
      expect(await database.prisma.project.count()).toBe(1)
      expect((await readFacts(database, null, 0)).head).toBe(0n)
    } finally {
      await database.close()
    }
    expect((await load(file, target)).rows).toBeGreaterThan(0)
  })

  test('a dump of the schema before: the rows come first, then the later migrations change them', async () => {
    const directory = path.join(scratch, 'migrations')
    await cp(migrationsDirectory, directory, { recursive: true })
    await mkdir(path.join(directory, '29990101_owner'))
    await writeFile(
      path.join(directory, '29990101_owner', 'migration.sql'),
      `ALTER TABLE "Service" ADD "tag" TEXT NOT NULL DEFAULT 'new'; UPDATE "Service" SET "tag" = 'moved';`,
    )
    target = await freshPostgreSQL()
    await load(file, target, directory)
    const connection = await connectToLoad(targetOf(target), silent)
    try {
      expect((await connection.query('SELECT "tag" FROM "Service"')).rows).toEqual([{ tag: 'moved' }])
    } finally {
      await connection.close()
    }
  })

  test('an existing file is not overwritten; a database without our tables has nothing to dump; a folder that is not there, and a directory in use, are told', async () => {
    await expect(dump(source, file)).rejects.toThrow(/exists already/)
    await expect(dump(source, path.join(scratch, 'none', 'file'))).rejects.toThrow(
      `There is no folder ${path.join(scratch, 'none')}: make it first`,
    )
    await expect(connectToDump({ dataDirectory: path.join(scratch, 'none'), url: null }, silent)).rejects.toThrow(
      /no embedded database/,
    )
    target = await freshEmbedded()
    const server = await openDatabase({ dataDirectory: target.options.dataDirectory, log: silent })
    try {
      await expect(dump(target)).rejects.toThrow(/in use by the server with process id/)
    } finally {
      await server.close()
    }
    const bare = `xce_bare_${process.pid}`
    await onServer(`CREATE DATABASE ${bare}`)
    try {
      const url = new URL(source.options.url ?? '')
      url.pathname = `/${bare}`
      const connection = await connectToDump({ dataDirectory: '', url: url.href }, silent)
      try {
        await expect(writeDumpFile(newFile(), dumpLines(connection, 'test'))).rejects.toThrow(/nothing to dump/)
      } finally {
        await connection.close()
      }
    } finally {
      await onServer(`DROP DATABASE ${bare}`)
    }
  })

  const text = (content: string) => {
    const name = newFile()
    writeFileSync(name, content)
    return name
  }
  const zipped = (content: string) => {
    const name = newFile()
    writeFileSync(name, gzipSync(content))
    return name
  }
  const cut = (whole: string) => {
    const name = newFile()
    const bytes = readFileSync(whole)
    writeFileSync(name, bytes.subarray(0, Math.floor(bytes.length * 0.7)))
    return name
  }
})
