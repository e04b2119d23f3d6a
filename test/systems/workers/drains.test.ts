import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Reporter } from '../../../src/model/intent.ts'
import type { Database } from '../../../src/store/database/database.ts'
import { type Frame, Subscriber } from '../../feed/subscriber.ts'
import { aliveReplicas, change, createService, placedReplicas } from '../../support/drivers/apiService.ts'
import { HandWorker } from '../../support/drivers/handWorker.ts'
import { TestStore } from '../../support/drivers/store.ts'
import { TestServer } from '../../support/drivers/testServer.ts'
import { freshPostgreSQL, silent, type TestDatabase } from '../../support/fixtures/databases.ts'
import { reportOf } from '../../support/fixtures/services.ts'
import { until } from '../../support/fixtures/until.ts'

let home: TestDatabase
let database: Database
beforeAll(async () => {
  home = await freshPostgreSQL()
  database = await home.open()
})
afterAll(async () => {
  await database?.close()
  await home?.drop()
})

const start = () => TestServer.start(silent, undefined, { databaseUrl: home.options.url ?? '' })
const messages = async (text: string) => {
  const events = await database.prisma.event.findMany({
    where: { kind: 'HOST', message: { contains: text } },
    orderBy: { revision: 'asc' },
  })
  return events.map(({ message }) => message)
}
const reasonOf = async (name: string) => (await database.prisma.host.findUniqueOrThrow({ where: { name } })).reason
const schedule = (server: TestServer, mutation: 'drainHost' | 'uncordonHost', host: string) =>
  change(server.client, mutation, mutation === 'drainHost' ? 'DrainHostInput' : 'UncordonHostInput', {
    host: { name: host },
  })

describe('that a host is drained is said once', () => {
  let servers: TestServer[]
  let a: HandWorker
  beforeAll(async () => {
    servers = await Promise.all([start(), start(), start()])
    a = new HandWorker(one(0).client, 'a')
    await a.register()
  })
  afterAll(() => Promise.all(servers.map((server) => server.stop())))
  const one = (number: number) => servers[number] as TestServer

  test('by whatever server, when the last of its replicas has left', async () => {
    const { client } = one(0)
    const subscriber = await Subscriber.open(one(2).client)
    subscriber.subscribe('subscription { hostsChanged { kind revision hosts { name reason } } }')
    await createService(client, 'web', 3)
    const placed = await placedReplicas(client, 'web', 3)
    await a.report(...placed.map(({ id }) => ({ replica: id, state: 'RUNNING', ready: true }) as const))
    await schedule(one(1), 'drainHost', 'a')
    const b = new HandWorker(one(1).client, 'b')
    await b.register()
    const onA = async () => (await aliveReplicas(client, 'web')).filter(({ host }) => host?.name === 'a')
    for (let left = 3; left > 0; left = (await onA()).length) {
      const stopping = await until(async () => {
        const moved = (await aliveReplicas(client, 'web')).filter(({ host, ready }) => host?.name === 'b' && !ready)
        if (moved.length > 0)
          await b.report(...moved.map(({ id }) => ({ replica: id, state: 'RUNNING', ready: true }) as const))
        const found = (await onA()).find(({ state }) => state === 'STOPPING')
        return found ?? ((await onA()).length === 0 ? 'none' : null)
      }, 'another one is to leave')
      if (stopping === 'none') break
      expect(await messages('is drained')).toEqual([])
      await a.report({ replica: stopping.id, state: 'ENDED', endReason: 'STOPPED' })
    }
    await until(async () => (await messages('is drained')).length > 0, 'it is said')
    expect(await reasonOf('a')).toBe('It is drained: it has no replicas, and takes no new ones until uncordonHost.')
    const tellsIt = ({ hosts }: Frame) => JSON.stringify(hosts ?? []).includes('It is drained')
    while (!tellsIt(await subscriber.frame()));
    await subscriber.close()
    // Its worker may start again meanwhile, or be stopped.
    await a.register()
    expect(await reasonOf('a')).toContain('It is drained')
  })

  test('and again after it was opened and filled; at once where there is nothing to leave', async () => {
    await schedule(one(2), 'uncordonHost', 'a')
    expect(await reasonOf('a')).toBe(null)
    await schedule(one(0), 'drainHost', 'a')
    expect(await reasonOf('a')).toContain('It is drained')
    expect(await messages('drained')).toEqual([
      'Host a is drained: none of its replicas is left on it.',
      'admin drained host a: it has no replicas, and takes none.',
    ])
  })
})

test('where the last one left while no server ran, the next one says it', async () => {
  const store = await TestStore.on(database)
  const reporter: Reporter = await store.register({ name: 'late', host: 'late' })
  await database.prisma.host.updateMany({ where: { name: { not: 'late' } }, data: { scheduling: 'CORDONED' } })
  const id = await store.create({ replicas: 1 })
  await store.place([id])
  await store.committer.write({ kind: 'scheduleHost', name: 'late', scheduling: 'DRAINING', actor: 'test' })
  const [row] = (await store.load(id)).replicas.values()
  if (row === undefined) throw new Error('no replica')
  await store.committer.submit(id, { kind: 'kill', replica: row.id, actor: 'test' })
  const reports = [reportOf(row, { state: 'ENDED', ready: false, endReason: 'STOPPED' })]
  await store.committer.submit(id, { kind: 'report', reporter, sequence: 1, reports })
  await store.committer.stop()
  expect(await messages('late is drained')).toEqual([])
  const server = await start()
  await until(async () => (await messages('late is drained')).length > 0, 'it is said')
  await server.stop()
  expect(await messages('late is drained')).toHaveLength(1)
})
