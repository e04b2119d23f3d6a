import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { openDatabase } from '../../src/store/database/database.ts'
import { change, createService, scale } from '../support/drivers/apiService.ts'
import { EndpointWatch } from '../support/drivers/endpointWatch.ts'
import { pidOf } from '../support/drivers/hostScene.ts'
import { Requests } from '../support/drivers/requests.ts'
import { ServerProcess } from '../support/drivers/serverProcess.ts'
import { TestStore } from '../support/drivers/store.ts'
import { tcpProxy } from '../support/drivers/tcpProxy.ts'
import { WorkerProcess } from '../support/drivers/workerProcess.ts'
import { freshPostgreSQL, onServer, silent } from '../support/fixtures/databases.ts'
import { databaseUrl } from '../support/fixtures/globalSetup.ts'
import { helloProfile } from '../support/fixtures/hello.ts'
import { startOwnPostgreSQL } from '../support/fixtures/postgresqlServer.ts'
import { readHead } from '../support/fixtures/readHead.ts'
import { until } from '../support/fixtures/until.ts'

// PostgreSQL is away for longer than a lease and its grace, and for longer than a caller waits.

const cleanUp: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanUp.splice(0).reverse()) await clean()
})

test('PostgreSQL is away for longer than lease and grace, again and again: replicas serve throughout, nobody is lost, nothing is started anew', async () => {
  const own = await startOwnPostgreSQL()
  cleanUp.push(() => own.stop())
  await onServer('CREATE DATABASE xce', own.url)
  const leases = { XCE_LEASE_SECONDS: '2', XCE_GRACE_SECONDS: '2' }
  const server = new ServerProcess({ DATABASE_URL: databaseUrl(own.url, 'xce'), ...leases })
  cleanUp.push(() => server.clean())
  await server.start()
  const worker = new WorkerProcess(server, 'away', 31_000)
  cleanUp.push(() => worker.end('SIGUSR2'))
  worker.start()
  const client = server.client()
  await createService(client, 'web', 3, helloProfile())
  const watch = new EndpointWatch(client, 'web')
  cleanUp.push(() => watch.close())
  const table = await watch.until('three serve', (now) => now.length === 3)
  const pids = await Promise.all(table.map(pidOf))
  const requests = new Requests(() => watch.table)
  cleanUp.push(() => requests.stop())
  for (const signal of ['INT', 'QUIT', 'INT'] as const) {
    await own.shutDown(signal)
    const { status, errors } = await client.send('mutation { applyProject(input: { name: "other" }) { __typename } }')
    expect([status, errors[0]?.extensions?.code]).toEqual([503, 'DATABASE_UNREACHABLE'])
    // So long is it away.
    await wait(7_000)
    await own.startAgain()
    await until(async () => (await fetch(new URL('/readyz', server.url))).status === 200, 'the server is ready')
    const query = '{ hosts { nodes { reachability } } service(name: "web") { status availableReplicas } }'
    await until(async () => {
      const now = await client.ask<{ hosts: { nodes: { reachability: string }[] }; service: { status: string } }>(query)
      return now.hosts.nodes[0]?.reachability === 'REACHABLE' && now.service.status === 'HEALTHY'
    }, 'all is well')
    await change(client, 'cordonHost', 'CordonHostInput', { host: { name: 'away' } })
    await change(client, 'uncordonHost', 'UncordonHostInput', { host: { name: 'away' } })
  }
  await scale(client, 'web', 4)
  const four = await watch.until('four serve', (now) => now.length === 4)
  expect(await Promise.all(four.slice(0, 3).map(pidOf))).toEqual(pids)
  await requests.stop()
  expect(requests.failures).toEqual([])
  expect(requests.answered).toBeGreaterThan(100)
  expect(watch.frames.flatMap(({ removed }) => removed)).toEqual([])
  expect(watch.faults).toEqual([])
})

test('a change whose answer was lost, with the database away after it: its caller hears that nobody knows, and may send it again', async () => {
  const fresh = await freshPostgreSQL()
  cleanUp.push(() => fresh.drop())
  const witness = await fresh.open()
  cleanUp.push(() => witness.close())
  const url = new URL(fresh.options.url ?? '')
  const proxy = await tcpProxy({ host: url.hostname, port: Number(url.port) })
  url.port = String(proxy.port)
  const database = await openDatabase({ dataDirectory: fresh.options.dataDirectory, url: url.href, log: silent })
  cleanUp.push(() => database.close())
  const store = await TestStore.on(database)
  const id = await store.create({ replicas: 1 })
  const head = await readHead(witness)
  proxy.swallowAnswers()
  const answer = store.scale(id, 2).catch((error: unknown) => error)
  await until(async () => (await readHead(witness)) > head, 'it is done')
  await proxy.close()
  expect(await answer).toMatchObject({
    message:
      'The database does not answer, and whether this was done is not known: look at it, or send it again with the same idempotencyKey.',
    trouble: 'UNREACHABLE',
  })
  // What comes after it was never sent, and its caller hears that.
  expect(await store.scale(id, 3).catch((error: unknown) => error)).toMatchObject({
    message: 'The database does not answer: nothing was changed, try again in a moment.',
  })
  await store.committer.stop()
})
