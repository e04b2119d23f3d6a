import { afterEach, expect, test, vi } from 'vitest'
import { createService, placedReplicas } from '../../support/drivers/apiService.ts'
import { HandWorker } from '../../support/drivers/handWorker.ts'
import { TestServer } from '../../support/drivers/testServer.ts'
import { until } from '../../support/fixtures/until.ts'

vi.setConfig({ testTimeout: 90_000 })

let server: TestServer
afterEach(() => server.stop())

interface Waiting {
  readonly id: string
  readonly state: string
  readonly blocker: { readonly reason: string; readonly until: string | null } | null
  readonly host: object | null
}

async function replicaOf(name: string): Promise<Waiting | undefined> {
  const query = `query ($name: String!) { service(name: $name) {
    replicas(filter: { states: [PENDING, STARTING, RUNNING] }) { nodes { id state blocker { reason until } host { name } } }
  } }`
  return (await server.client.ask<{ service: { replicas: { nodes: Waiting[] } } }>(query, { name })).service.replicas
    .nodes[0]
}

const availableReplicas = async (name: string) =>
  (
    await server.client.ask<{ service: { availableReplicas: number } }>(
      `{ service(name: "${name}") { availableReplicas } }`,
    )
  ).service.availableReplicas

test('a replica waits out its backoff and is placed then, with nothing else happening', async () => {
  server = await TestServer.start()
  const worker = new HandWorker(server.client)
  await worker.register()
  await createService(server.client, 'fails', 1, { serviceDefaults: { backoff: { baseSeconds: 3, maxSeconds: 3 } } })
  const [first] = await placedReplicas(server.client, 'fails', 1)
  await worker.report({ replica: first?.id ?? '', state: 'ENDED', endReason: 'EXITED' })
  // The first failure is retried at once, the second after three seconds.
  const second = await until(
    async () => (await placedReplicas(server.client, 'fails', 1)).find(({ id }) => id !== first?.id),
    'a second one',
  )
  await worker.report({ replica: second.id, state: 'ENDED', endReason: 'EXITED' })
  const waiting = await until(() => replicaOf('fails'), 'a third one')
  expect(waiting).toMatchObject({
    state: 'PENDING',
    blocker: { reason: 'BACKOFF', until: expect.any(String) },
    host: null,
  })
  const dueAt = Date.parse(waiting.blocker?.until ?? '')
  await until(async () => (await replicaOf('fails'))?.host, 'it is placed')
  expect(server.app.clock.now()).toBeGreaterThanOrEqual(dueAt)
  expect((await replicaOf('fails'))?.id).toBe(waiting.id)
})

test('a timer that becomes due while no server runs fires when one starts', async () => {
  server = await TestServer.start()
  const worker = new HandWorker(server.client)
  await worker.register()
  await createService(server.client, 'steady', 1, { serviceDefaults: { rollout: { minReadySeconds: 2 } } })
  const [replica] = await placedReplicas(server.client, 'steady', 1)
  await worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready: true })
  const timer = await until(
    () => server.app.database.prisma.timer.findFirst({ where: { kind: 'MIN_READY' } }),
    'the timer is armed',
  )
  const directory = await server.keep()
  await until(() => Date.now() > timer.dueAt.getTime(), 'the timer is due')
  server = await TestServer.start(undefined, directory)
  expect(await availableReplicas('steady')).toBe(1)
  expect(await server.app.database.prisma.timer.findFirst({ where: { kind: 'MIN_READY' } })).toBeNull()
})

test('starting on a state with nothing due makes no fact', async () => {
  server = await TestServer.start()
  await createService(server.client, 'idle', 2)
  await until(async () => (await replicaOf('idle'))?.blocker?.reason === 'NO_HOST', 'placement has said why it waits')
  const { head } = await server.app.database.prisma.feed.findFirstOrThrow()
  const directory = await server.keep()
  server = await TestServer.start(undefined, directory)
  await createService(server.client, 'other', 0)
  const facts = await server.app.database.prisma.fact.findMany({ where: { revision: { gt: head } } })
  const idle = await server.app.database.prisma.service.findFirstOrThrow({ where: { heldName: 'idle' } })
  expect(facts.filter(({ serviceId }) => serviceId === idle.id)).toEqual([])
})
