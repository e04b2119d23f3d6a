import { afterEach, expect, test } from 'vitest'
import { aliveReplicas, createService, placedReplicas } from '../support/drivers/apiService.ts'
import { HandWorker } from '../support/drivers/handWorker.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { until } from '../support/fixtures/until.ts'

let server: TestServer
afterEach(() => server.stop())

test('a replica that only a quarantine keeps from its port says until when, and is placed when that is over', async () => {
  server = await TestServer.start()
  const { client } = server
  const worker = new HandWorker(client, 'a')
  await worker.register()
  await createService(client, 'web', 1, { ports: [{ name: 'http', port: 8080 }] })
  const [first] = await placedReplicas(client, 'web', 1)
  await worker.report({ replica: first?.id ?? '', state: 'ENDED', endReason: 'PORT_TAKEN' })
  const blocker = await until(async () => {
    const query = '{ service(name: "web") { blockers { reason until } } }'
    const { service } = await client.ask<{ service: { blockers: { reason: string; until: string | null }[] } }>(query)
    return service.blockers.find(({ reason }) => reason === 'NO_PORT')
  }, 'it says why')
  const { quarantinedUntil } = await server.app.database.prisma.hostPort.findFirstOrThrow()
  expect(blocker.until).toBe(quarantinedUntil?.toISOString())
  expect(await aliveReplicas(client, 'web')).toMatchObject([{ host: null }])
  // Nothing else happens in these 60 s that could wake placement.
  await until(async () => (await aliveReplicas(client, 'web'))[0]?.host, 'it is placed again', 120)
  expect(server.app.clock.now()).toBeGreaterThanOrEqual(quarantinedUntil?.getTime() ?? Number.POSITIVE_INFINITY)
})
