import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ServiceId } from '../../../src/model/id.ts'
import { type Database, openDatabase } from '../../../src/store/database/database.ts'
import { databaseErrorOf } from '../../../src/store/database/databaseErrors.ts'
import { comparable, TestStore } from '../../support/drivers/store.ts'
import { type TcpProxy, tcpProxy } from '../../support/drivers/tcpProxy.ts'
import { freshPostgreSQL, silent, type TestDatabase } from '../../support/fixtures/databases.ts'
import { readHead } from '../../support/fixtures/readHead.ts'
import { until } from '../../support/fixtures/until.ts'

// What only a real network and a real second server can do to a commit.

let fresh: TestDatabase
/** Sees the truth: its connection is never cut. */
let witness: Database
beforeAll(async () => {
  fresh = await freshPostgreSQL()
  witness = await fresh.open()
})
afterAll(async () => {
  await witness.close()
  await fresh.drop()
})

describe('a connection that is cut before the answer', () => {
  let proxy: TcpProxy
  let database: Database
  let store: TestStore
  let id: ServiceId
  beforeEach(async () => {
    const url = new URL(fresh.options.url ?? '')
    proxy = await tcpProxy({ host: url.hostname, port: Number(url.port) })
    url.port = String(proxy.port)
    database = await openDatabase({ dataDirectory: fresh.options.dataDirectory, url: url.href, log: silent })
    store = await TestStore.on(database)
    id = await store.create({ replicas: 3 })
  })
  afterEach(async () => {
    await store.committer.stop()
    await database.close()
    await proxy.close()
  })

  // A kill ends one replica and starts its replacement: done twice it would end two.
  const killFirst = async () => {
    const [replica] = (await store.load(id)).replicas.keys()
    if (!replica) throw new Error('no replica')
    return store.committer.submit(id, { kind: 'kill', replica, actor: 'test' })
  }
  const ended = () => witness.prisma.replica.count({ where: { serviceId: id, state: 'ENDED' } })

  /** Holds the counter, so that commits wait in the database. */
  const holdCounter = async () => {
    const client = new pg.Client({ connectionString: fresh.options.url })
    await client.connect()
    await client.query('BEGIN; SELECT * FROM "Feed" FOR UPDATE')
    return {
      /** The process that serves the waiting commit. */
      commitWaits: async (): Promise<number> => {
        const [waiting] = await until(async () => {
          const rows = await witness.prisma.$queryRaw<{ pid: number }[]>`
            SELECT pid FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'WITH services%'`
          return rows.length > 0 ? rows : null
        }, 'a commit waits for the counter')
        return waiting?.pid ?? 0
      },
      terminate: (pid: number) => client.query('SELECT pg_terminate_backend($1)', [pid]),
      release: async () => {
        await client.query('ROLLBACK')
        await client.end()
      },
    }
  }

  test('after the commit: it is found by its id and not done again', async () => {
    const head = await readHead(witness)
    const [replica] = (await store.load(id)).replicas.keys()
    proxy.swallowAnswers()
    const kill = replica && store.committer.submit(id, { kind: 'kill', replica, actor: 'test' })
    await until(async () => (await readHead(witness)) > head, 'the commit is in the database')
    proxy.cut()
    expect(await kill).toEqual({ kind: 'done', changed: true })
    expect(await ended()).toBe(1)
    const known = store.committer.cache.get(id)
    expect(known && comparable(known)).toEqual(comparable(await store.load(id)))
  })

  test('before the commit, the server process ended: it is done once', async () => {
    const counter = await holdCounter()
    const kill = killFirst()
    await counter.commitWaits().then(counter.terminate).finally(counter.release)
    expect(await kill).toEqual({ kind: 'done', changed: true })
    expect(await ended()).toBe(1)
  })

  test('while the statement still runs in the database: it can never commit any more, and its intents are done once', async () => {
    const counter = await holdCounter()
    const kill = killFirst()
    try {
      await counter.commitWaits()
      proxy.cut()
      await until(
        () => witness.prisma.batch.findFirst({ where: { result: { path: ['abandoned'], equals: true } } }),
        'its id is taken',
      )
    } finally {
      await counter.release()
    }
    expect(await kill).toEqual({ kind: 'done', changed: true })
    expect(await ended()).toBe(1)
  })

  test('again and again: every intent of many is done once', async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, () => store.create({ replicas: 4 })))
    const victims = await Promise.all(
      ids.map(async (service) =>
        [...(await store.load(service)).replicas.keys()].map((replica) => ({ service, replica })),
      ),
    )
    const kills = victims.flat().map(async ({ service, replica }, index) => {
      if (index % 3 === 0) {
        const head = await readHead(witness)
        const outcome = store.committer.submit(service, { kind: 'kill', replica, actor: 'test' })
        await until(async () => (await readHead(witness)) > head, 'something was committed')
        proxy.cut()
        return outcome
      }
      return store.committer.submit(service, { kind: 'kill', replica, actor: 'test' })
    })
    const outcomes = await Promise.all(kills)
    expect(outcomes.every((outcome) => outcome.kind === 'done' && outcome.changed)).toBe(true)
    for (const service of ids)
      expect(await witness.prisma.replica.count({ where: { serviceId: service, state: 'ENDED' } })).toBe(4)
  })
})

describe('a service that other servers change all the time', () => {
  test('is locked when two decisions on it were stale', async () => {
    const store = await TestStore.on(witness)
    const id = await store.create({ replicas: 1 })
    let changes = 0
    // Whenever the service has been loaded, another server is faster.
    const busy = new Proxy(witness.prisma, {
      get(target, name) {
        const own = Reflect.get(target, name) as unknown
        if (name !== '$queryRawUnsafe') return typeof own === 'function' ? own.bind(target) : own
        return async (text: string, ...parameters: unknown[]) => {
          const rows = await target.$queryRawUnsafe(text, ...parameters)
          if (text.startsWith('SELECT json_build_object')) {
            changes++
            await target.$executeRaw`UPDATE "Service" SET "guard" = "guard" + 1 WHERE "id" = ${id}`
          }
          return rows
        }
      },
    })
    const unlucky = await TestStore.on({ ...witness, prisma: busy })
    expect(await unlucky.scale(id, 4)).toEqual({ kind: 'done', changed: true })
    expect(changes).toBe(2)
    expect((await store.load(id)).columns.desiredReplicas).toBe(4)
    await Promise.all([store.committer.stop(), unlucky.committer.stop()])
  })

  test('two servers that hammer it, one intent at a time, lose none', async () => {
    const stores = await Promise.all([TestStore.on(witness), TestStore.on(witness)])
    const id = await stores[0].create({ replicas: 40 })
    const victims = [...(await stores[0].load(id)).replicas.keys()]
    const hammer = async (store: TestStore, own: typeof victims) => {
      for (const replica of own) {
        expect(await store.committer.submit(id, { kind: 'kill', replica, actor: 'test' })).toEqual({
          kind: 'done',
          changed: true,
        })
      }
    }
    await Promise.all([hammer(stores[0], victims.slice(0, 20)), hammer(stores[1], victims.slice(20))])
    expect(await witness.prisma.replica.count({ where: { serviceId: id, state: 'ENDED' } })).toBe(40)
    await Promise.all(stores.map(({ committer }) => committer.stop()))
  })
})

test('a database that is gone without a word: after the silence its connections are cut, what was committed is found, and new ones go on', async () => {
  const url = new URL(fresh.options.url ?? '')
  const proxy = await tcpProxy({ host: url.hostname, port: Number(url.port) })
  url.port = String(proxy.port)
  // Longer than an answer takes on a busy machine: that would be silence too.
  const database = await openDatabase({
    dataDirectory: fresh.options.dataDirectory,
    url: url.href,
    silenceMillis: 2_000,
    log: silent,
  })
  const store = await TestStore.on(database)
  try {
    const id = await store.create({ replicas: 1 })
    // Whatever is open stays so, and says nothing any more. Reads that wait on every connection of the pool, and a commit.
    proxy.swallowAnswers()
    const reads = Array.from({ length: 8 }, () => readHead(database).catch((error: unknown) => databaseErrorOf(error)))
    expect(await store.scale(id, 3)).toEqual({ kind: 'done', changed: true })
    expect((await Promise.all(reads)).filter((read) => typeof read !== 'bigint' && read !== 'UNREACHABLE')).toEqual([])
    expect((await store.load(id)).columns.desiredReplicas).toBe(3)
    expect(await witness.prisma.event.count({ where: { serviceId: id, kind: 'SERVICE_SCALED' } })).toBe(1)
  } finally {
    await store.committer.stop()
    await database.close()
    await proxy.close()
  }
})
