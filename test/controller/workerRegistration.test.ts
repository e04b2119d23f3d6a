import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { registerWorker } from '../../src/controller/workerRegistration.ts'
import type { ReplicaReport } from '../../src/model/intent.ts'
import type { RegisterWorker } from '../../src/store/commit/outcome.ts'
import { readEndpoint } from '../../src/store/readEndpoint.ts'
import { eachDatabase } from '../support/databases.ts'
import { content, reportOf } from '../support/services.ts'
import { TestStore } from '../support/store.ts'

// R15: what a registration does beside the worker's own row: to its services, and to the host that it leaves.

eachDatabase((database) => {
  let store: TestStore
  beforeAll(async () => {
    store = await TestStore.on(database())
  })

  let made = 0
  /** A host of its own, the only one that is open. */
  async function only(): Promise<string> {
    await database().prisma.host.updateMany({ data: { scheduling: 'CORDONED', allocation: { increment: 1 } } })
    return `registered-${++made}`
  }
  const register = (
    worker: Partial<RegisterWorker> & { readonly name: string; readonly host: string },
    running: readonly ReplicaReport[] = [],
  ) => {
    const offer = {
      addresses: ['10.0.0.1'],
      cpuMillis: 64_000,
      memoryMiB: 64_000,
      portRange: { from: 20_000, to: 32_000 },
      reservedPorts: [],
    }
    const registering = { ...offer, softwareVersion: '1', protocolVersion: 1, subject: 'worker', ...worker }
    return registerWorker({ committer: store.committer, database: database() }, registering, running)
  }
  const hostOf = (name: string) => database().prisma.host.findUniqueOrThrow({ where: { name }, include: { workers: true } })

  test('under a new name on a new host it is the same worker by its state directory: what it is told to stop has left the endpoint', async () => {
    const [host, instance] = [await only(), randomUUID()]
    const before = await store.register({ name: host, host, instance })
    const id = await store.create({ replicas: 2, content: content({ cpuMillis: 100, memoryMiB: 10 }) })
    expect(await store.place([id])).toBe(2)
    await store.reportReady(id, before, 1)
    const reports = [...(await store.load(id)).replicas.values()].map((row) => reportOf(row))
    // The machine has another name now, and both follow it.
    const answer = await register({ name: `${host}-new`, host: `${host}-new`, instance }, reports)
    expect(answer).toMatchObject({ kind: 'registered', workerId: before.workerId, stop: reports.map(({ replica }) => replica) })
    expect((await readEndpoint(database(), id))?.addresses).toEqual([])
    expect(await hostOf(host)).toMatchObject({ reachability: 'LOST', workers: [] })
    expect((await hostOf(`${host}-new`)).workers).toMatchObject([{ name: `${host}-new`, reachability: 'LOST' }])
  })

  test('one that is refused a name leaves its host for nothing', async () => {
    const [host, instance] = [await only(), randomUUID()]
    const before = await store.register({ name: host, host, instance })
    await store.register({ name: `${host}-taken`, host: `${host}-b`, instance: randomUUID() })
    expect(await register({ name: `${host}-taken`, host: `${host}-b`, instance })).toMatchObject({ kind: 'refused' })
    expect((await hostOf(host)).workers).toMatchObject([{ name: host, reachability: 'REACHABLE', epoch: before.epoch }])
  })
})
