import { afterEach, expect, test } from 'vitest'
import { createService, placedReplicas, scale } from '../support/drivers/apiService.ts'
import { ScaleLoad } from '../support/drivers/scaleLoad.ts'
import { TroubleScene } from '../support/drivers/troubleScene.ts'
import { freshPostgreSQL, onServer } from '../support/fixtures/databases.ts'
import { databaseUrl } from '../support/fixtures/globalSetup.ts'
import { type OwnServer, startOwnPostgreSQL } from '../support/fixtures/postgresqlServer.ts'
import { until } from '../support/fixtures/until.ts'

// PostgreSQL in trouble while a server uses it: what callers, subscribers and probes are told, and that all goes on without a restart.

let scene: TroubleScene | undefined
let load: ScaleLoad | undefined
let drop: () => Promise<void> = async () => undefined

afterEach(async () => {
  await load?.stop()
  load = undefined
  await scene?.stop()
  scene = undefined
  await drop()
  drop = async () => undefined
})

async function onFreshDatabase(): Promise<TroubleScene> {
  const database = await freshPostgreSQL()
  drop = database.drop
  scene = await TroubleScene.start(database.options.url ?? '')
  return scene
}

test('a frame that the database does not let be made is made when it does, and its subscribers stay', async () => {
  const { server, accidents, ...found } = await onFreshDatabase()
  const frames = (id: string) => scene?.frames(id) ?? []
  // Of the queue there is nothing in a commit, and all in these frames.
  const release = await accidents.lock('Queue')
  try {
    await scale(server.client, 'web', 3)
    for (let times = 0; times < 4; times++) expect(await accidents.killWhoWaits()).toBeGreaterThan(0)
    expect(frames('service').some(({ kind }) => kind === 'DELTA')).toBe(false)
  } finally {
    await release()
  }
  const shown = { desiredReplicas: 3, queue: { name: 'default' } }
  await until(
    () => frames('service').some(({ service }) => JSON.stringify(service) === JSON.stringify(shown)),
    'the change comes',
  )
  await until(() => frames('services').some(({ kind }) => kind === 'DELTA'), 'the list has it too')
  expect(found.subscriber.closed).toBeNull()
  await scene?.expectWhole()
})

test('connections that are killed again and again, under load: every change is done once or refused, and subscribers miss nothing', async () => {
  const { server, accidents, worker } = await onFreshDatabase()
  for (const name of ['db', 'app']) await createService(server.client, name, 1)
  load = new ScaleLoad(server.client, worker, ['web', 'db', 'app'])
  const before = server.app.tail.head
  for (let kill = 1; kill <= 12; kill++) {
    const from = server.app.tail.head
    await until(() => server.app.tail.head > from + 3n, 'changes are committed')
    expect(await accidents.killConnections()).toBeGreaterThan(0)
  }
  await load.stop()
  expect(server.app.tail.head - before).toBeGreaterThan(30n)
  await load.check(server.app.database)
  await scene?.heardAll()
  await scene?.expectWhole()
})

test('a database that became read-only refuses changes with a sentence, shows what there is, and takes changes again when it may', async () => {
  const { server, accidents, worker, watch } = await onFreshDatabase()
  await accidents.setReadOnly(true)
  await until(async () => (await scene?.ready())?.[0] === 503, 'it is not ready')
  expect(await scene?.ready()).toEqual([503, 'The database is read-only: reads work, changes are refused.'])
  expect((await fetch(server.at('/healthz'))).status).toBe(200)
  await scene?.expectRefused(
    'DATABASE_READ_ONLY',
    'The database is read-only now: nothing was changed, reads and running replicas go on; try again when an operator has mended it.',
  )
  const query = '{ service(name: "web") { desiredReplicas readyReplicas } services { nodes { name } } }'
  expect(await server.client.ask(query)).toEqual({
    service: { desiredReplicas: 1, readyReplicas: 1 },
    services: { nodes: [{ name: 'web' }] },
  })
  const seen = scene?.frames('service').length ?? 0
  await until(() => (scene?.frames('service').length ?? 0) > seen, 'a BOOKMARK comes')

  await accidents.setReadOnly(false)
  await until(async () => (await scene?.ready())?.[0] === 200, 'it is ready')
  await scale(server.client, 'web', 2)
  const [, second] = await placedReplicas(server.client, 'web', 2)
  await worker.report({ replica: second?.id ?? '', state: 'RUNNING', ready: true })
  await watch.until('two addresses', (table) => table.length === 2)
  await scene?.heardAll()
  await scene?.expectWhole()
})

function moreIsDone(of: ScaleLoad): Promise<unknown> {
  const { done } = of
  return until(() => of.done > done + 3, 'changes are made')
}

test('PostgreSQL is restarted under load, in order and as by a crash: meanwhile it is said, and all goes on when it is back', async () => {
  const own: OwnServer = await startOwnPostgreSQL()
  drop = own.stop
  await onServer('CREATE DATABASE xce', own.url)
  scene = await TroubleScene.start(databaseUrl(own.url, 'xce'))
  const { server, worker } = scene
  load = new ScaleLoad(server.client, worker, ['web'])
  for (const signal of ['INT', 'QUIT'] as const) {
    await moreIsDone(load)
    await own.shutDown(signal)
    expect(await scene.ready()).toEqual([503, 'The database does not answer.'])
    expect((await fetch(server.at('/healthz'))).status).toBe(200)
    const { status, errors } = await server.client.send('{ services { nodes { name } } }')
    const message =
      'The database does not answer: try again in a moment. A change may be sent again with the same idempotencyKey.'
    expect([status, errors]).toEqual([503, [{ message, extensions: { code: 'DATABASE_UNREACHABLE' } }]])
    await own.startAgain()
    await until(async () => (await scene?.ready())?.[0] === 200, 'it is ready')
  }
  await moreIsDone(load)
  await load.stop()
  await load.check(server.app.database)
  await scene.heardAll()
  await scene.expectWhole()
})
