import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeGlobalId, idOf } from '../../../src/graphql/kit/globalId.ts'
import type { Database } from '../../../src/store/database/database.ts'
import { createService, scale } from '../../support/drivers/apiService.ts'
import { HandWorker } from '../../support/drivers/handWorker.ts'
import { TestServer } from '../../support/drivers/testServer.ts'
import { freshPostgreSQL, silent, type TestDatabase } from '../../support/fixtures/databases.ts'
import { until } from '../../support/fixtures/until.ts'
import { FactAudit } from '../../support/models/audit/factAudit.ts'

// Four servers on one PostgreSQL, whose hosts have exactly the room that is wanted, half of it on each of two workers: whoever places, everything is
// placed, and nothing twice (R13, R14, R15).

const hosts = 5
const perHost = 16
/** Every other one has no ports, so that nothing but CPU bounds how many a host takes. */
const services = Array.from({ length: 16 }, (_, number) => `s${number}`)
const each = (hosts * perHost) / services.length

// Each server's lease is a row of its own then, so that all of them have the turn at once.
const withoutTurns = `
CREATE FUNCTION own_lease() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW."name" := NEW."name" || ' of ' || NEW."holder"; RETURN NEW; END $$;
CREATE TRIGGER own_lease BEFORE INSERT ON "ServerLease" FOR EACH ROW EXECUTE FUNCTION own_lease()`

describe.each([
  ['by turns', null, 1],
  ['all at once, without turns', withoutTurns, 4],
] as const)('four servers that place %s', (_name, sql, leases) => {
  let home: TestDatabase
  let database: Database
  let servers: TestServer[] = []
  let workers: HandWorker[] = []
  const server = (number: number) => servers[number % servers.length] as TestServer

  beforeAll(async () => {
    home = await freshPostgreSQL()
    database = await home.open()
    for (const statement of sql?.split(';\n') ?? []) await database.prisma.$executeRawUnsafe(statement)
    const databaseUrl = home.options.url ?? ''
    servers = await Promise.all(
      [0, 1, 2, 3].map(() => TestServer.start(silent, undefined, { databaseUrl, env: { XCE_METRICS: 'open' } })),
    )
  })
  afterAll(async () => {
    await Promise.all(servers.map((one) => one.stop()))
    await database?.close()
    await home?.drop()
  })

  const counts = async () => {
    const alive = { state: { not: 'ENDED' } } as const
    const placed = await database.prisma.replica.count({ where: { ...alive, hostId: { not: null } } })
    return { alive: await database.prisma.replica.count({ where: alive }), placed }
  }

  /** What was told to stop has stopped, as far as the workers heard of it. */
  async function endStopping(): Promise<void> {
    const stopping = await database.prisma.replica.findMany({ where: { state: 'STOPPING' } })
    for (const worker of workers) {
      const own = stopping.filter(({ workerId }) => workerId === idOf('Worker', worker.id))
      const reports = own.map(
        ({ id }) => ({ replica: encodeGlobalId('Replica', id), state: 'ENDED', endReason: 'STOPPED' }) as const,
      )
      if (own.length > 0) await worker.report(...reports)
    }
  }

  async function allPlaced(): Promise<void> {
    const all = hosts * perHost
    await until(async () => {
      await endStopping()
      const { alive, placed } = await counts()
      return alive === all && placed === all
    }, `${all} replicas are placed`)
  }

  async function noRoomIsLeft(): Promise<void> {
    const found = await database.prisma.host.findMany({
      select: { name: true, usedCpuMillis: true },
      orderBy: { name: 'asc' },
    })
    expect(found).toEqual(
      Array.from({ length: hosts }, (_, number) => ({ name: `host-${number}`, usedCpuMillis: 10 * perHost })),
    )
    const held = await database.prisma.replica.groupBy({
      by: ['workerId'],
      where: { state: { not: 'ENDED' } },
      _count: true,
    })
    expect(held.map(({ _count }) => _count)).toEqual(workers.map(() => perHost / 2))
  }

  test('everything has a place, in as much room as there is', async () => {
    workers = Array.from(
      { length: 2 * hosts },
      (_, number) => new HandWorker(server(number).client, `worker-${number}`),
    )
    const room = { cpuMillis: (10 * perHost) / 2 }
    await Promise.all(workers.map((worker, number) => worker.register([], { host: `host-${number % hosts}`, ...room })))
    const ports = (number: number) => (number % 2 === 0 ? [{ name: 'x' }, { name: 'y' }] : [])
    await Promise.all(
      services.map((name, number) => createService(server(number).client, name, each, { ports: ports(number) })),
    )
    await allPlaced()
    await noRoomIsLeft()
  })

  test('half of the services take over what the other half gives back, and the other way round', async () => {
    for (let turn = 0; turn < 2; turn++) {
      const wanted = (number: number) => ((number >> 1) % 2 === turn % 2 ? 2 * each : 0)
      await Promise.all(services.map((name, number) => scale(server(number + turn).client, name, wanted(number))))
      await allPlaced()
      await noRoomIsLeft()
    }
  })

  test('no commit and no table shows anything else', async () => {
    const audit = new FactAudit(database)
    expect(await audit.look()).toEqual([])
    expect(audit.services.size).toBe(services.length)
    expect(await database.prisma.serverLease.count({ where: { name: { startsWith: 'placement' } } })).toBe(leases)
  })

  test('their metrics tell who placed what', async () => {
    const texts = await Promise.all(servers.map(async (one) => (await fetch(one.at('/metrics'))).text()))
    const countOf = (outcome: string) =>
      texts.map((text) =>
        Number(new RegExp(`^xce_placement_grants_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0),
      )
    const granted = countOf('granted')
    expect(granted.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(2 * hosts * perHost)
    expect(granted.filter((count) => count > 0).length).toBeGreaterThan(leases === 1 ? 0 : 1)
    // They met: what two had decided on at once, one was refused.
    if (leases > 1) expect(countOf('refused').reduce((sum, count) => sum + count)).toBeGreaterThan(0)
  })
})
