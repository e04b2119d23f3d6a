import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aliveReplicas, change, createService, placedReplicas, scale } from '../../support/drivers/apiService.ts'
import { HandWorker } from '../../support/drivers/handWorker.ts'
import { TestServer } from '../../support/drivers/testServer.ts'
import { until } from '../../support/fixtures/until.ts'

let server: TestServer
const hold = async (name: string) => {
  const query = 'query ($name: String!) { service(name: $name) { blockers { reason count } } }'
  const { service } = await server.client.ask<{ service: { blockers: { reason: string; count: number }[] } }>(query, {
    name,
  })
  return service.blockers.find(({ reason }) => !['WAITING_FOR_READY', 'QUEUED'].includes(reason))
}

describe('placement', () => {
  beforeAll(async () => {
    server = await TestServer.start()
  })
  afterAll(() => server.stop())

  test('says why nothing can be placed, and places it when a host comes', async () => {
    await createService(server.client, 'early', 2)
    expect(await until(() => hold('early'), 'it says why')).toEqual({ reason: 'NO_HOST', count: 2 })
    await new HandWorker(server.client, 'host-a').register([], { cpuMillis: 1_000 })
    const placed = await placedReplicas(server.client, 'early', 2)
    expect(placed.map(({ host }) => host?.name)).toEqual(['host-a', 'host-a'])
  })

  test('what does not fit waits, and takes the room that another gives back', async () => {
    const worker = new HandWorker(server.client, 'host-a')
    await worker.register([], { cpuMillis: 1_000 })
    await createService(server.client, 'takes', 1, { cpuMillis: 600 })
    const [taker] = await placedReplicas(server.client, 'takes', 1)
    await createService(server.client, 'waits', 1, { cpuMillis: 600 })
    expect(await until(() => hold('waits'), 'it says why')).toEqual({ reason: 'NO_CAPACITY', count: 1 })
    await scale(server.client, 'takes', 0)
    await worker.report({ replica: taker?.id ?? '', state: 'ENDED', endReason: 'STOPPED' })
    await placedReplicas(server.client, 'waits', 1)
  })

  test('a replica that stops is one of its host still: STRICT spread waits for its end', async () => {
    const worker = new HandWorker(server.client, 'host-a')
    await worker.register([], { cpuMillis: 1_000 })
    await createService(server.client, 'strict', 1, { serviceDefaults: { spread: { mode: 'STRICT', maxPerHost: 1 } } })
    const [first] = await placedReplicas(server.client, 'strict', 1)
    await worker.report({ replica: first?.id ?? '', state: 'RUNNING', ready: true })
    await change(server.client, 'killReplica', 'KillReplicaInput', { replica: { id: first?.id } })
    expect(await until(() => hold('strict'), 'it says why')).toEqual({ reason: 'SPREAD', count: 1 })
    await worker.report({ replica: first?.id ?? '', state: 'ENDED', endReason: 'STOPPED' })
    const [next] = await placedReplicas(server.client, 'strict', 1)
    expect(next?.id).not.toBe(first?.id)
    await scale(server.client, 'strict', 0)
    await worker.report({ replica: next?.id ?? '', state: 'ENDED', endReason: 'STOPPED' })
  })

  test('tells a replica that waits nothing twice: others’ changes make no fact of it', async () => {
    await createService(server.client, 'stuck', 1, { cpuMillis: 900_000 })
    await until(() => hold('stuck'), 'it says why')
    const stuck = await server.app.database.prisma.service.findFirstOrThrow({ where: { heldName: 'stuck' } })
    for (let replicas = 3; replicas <= 6; replicas++) {
      await scale(server.client, 'early', replicas)
      await placedReplicas(server.client, 'early', replicas)
    }
    const after = await server.app.database.prisma.service.findFirstOrThrow({ where: { heldName: 'stuck' } })
    expect(after.revision).toBe(stuck.revision)
  })

  test('many replicas at once get ports that nobody else has', async () => {
    await new HandWorker(server.client, 'host-b').register()
    await createService(server.client, 'many', 60)
    await placedReplicas(server.client, 'many', 60)
    const ports = await server.app.database.prisma.hostPort.findMany({ where: { replicaId: { not: null } } })
    expect(new Set(ports.map(({ hostId, port, protocol }) => `${hostId} ${port} ${protocol}`)).size).toBe(ports.length)
    expect(await aliveReplicas(server.client, 'many')).toHaveLength(60)
  })
})
