import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { settleHosts } from '../../../src/controller/settleHosts.ts'
import type { ServiceId } from '../../../src/model/id.ts'
import type { Reporter } from '../../../src/model/intent.ts'
import type { JudgeWorker, RegisterWorker } from '../../../src/store/commit/outcome.ts'
import type { Database } from '../../../src/store/database.ts'
import { writeHeartbeat } from '../../../src/store/lease.ts'
import { eachDatabase } from '../../support/databases.ts'
import { content } from '../../support/services.ts'
import { TestStore } from '../../support/store.ts'

// R15: a server takes a registration late. It decided on it, or only heard it, before something else became of the worker by another server.

eachDatabase((database) => {
  let store: TestStore
  const serverId = randomUUID()
  beforeAll(async () => {
    store = await TestStore.on(database())
    await writeHeartbeat(database(), serverId)
  })

  let made = 0
  /** A host of its own, the only one that is open. */
  async function only(): Promise<string> {
    await database().prisma.host.updateMany({ data: { scheduling: 'CORDONED', allocation: { increment: 1 } } })
    return `late-${++made}`
  }
  const said = (over: Partial<RegisterWorker> & { readonly name: string; readonly host: string }): Omit<RegisterWorker, 'kind'> => ({
    addresses: ['10.0.0.1'],
    cpuMillis: 64_000,
    memoryMiB: 64_000,
    portRange: { from: 20_000, to: 32_000 },
    reservedPorts: [],
    softwareVersion: '1',
    protocolVersion: 1,
    subject: 'worker',
    instance: over.name,
    ...over,
  })
  /** A server that stands still once, when it has decided on a registration and is about to write it, until `meanwhile` is over. */
  async function slow(meanwhile: () => Promise<unknown>): Promise<{ readonly store: TestStore; readonly database: Database }> {
    let waits = true
    const prisma = new Proxy(database().prisma, {
      get: (target, key) => {
        if (key !== '$queryRawUnsafe') return Reflect.get(target, key) as unknown
        return async (text: string, ...parameters: unknown[]) => {
          if (waits && text.includes('INSERT INTO "Worker"')) {
            waits = false
            await meanwhile()
          }
          return target.$queryRawUnsafe(text, ...parameters)
        }
      },
    })
    const slowed = { ...database(), prisma }
    return { store: await TestStore.on(slowed), database: slowed }
  }
  async function lose({ hostId, workerId }: Reporter): Promise<void> {
    for (const to of ['UNREACHABLE', 'LOST'] as const) {
      const { leaseUntil } = await database().prisma.worker.findUniqueOrThrow({ where: { id: workerId } })
      const judged: JudgeWorker = { kind: 'judgeWorker', hostId, workerId, to, leaseUntil: leaseUntil.getTime(), ...words }
      expect(await store.committer.write({ ...judged })).toMatchObject({ changed: true })
    }
    await settleHosts({ database: database(), committer: store.committer }, [hostId])
  }
  const words = { reason: 'it is silent', message: 'it is silent', serverId, heartbeatSeconds: 3_600 }
  const rowsOf = async (id: ServiceId) => [...(await store.load(id)).replicas.values()]
  const small = content({ cpuMillis: 100, memoryMiB: 10 })

  test('a worker that is back on its host meanwhile, and has replicas there, does not leave it by a registration elsewhere', async () => {
    const host = await only()
    await lose(await store.register(said({ name: host, host })))
    const unclean = await store.register(said({ name: host, host, clean: false }))
    const id = await store.create({ replicas: 1, content: small })
    const { store: late } = await slow(async () => {
      expect(await store.committer.write({ kind: 'returnWorker', ...unclean })).toMatchObject({ changed: true })
      expect(await store.place([id])).toBe(1)
    })
    const elsewhere = said({ name: host, host: `${host}-b`, clean: true })
    expect(await late.committer.write({ kind: 'registerWorker', ...elsewhere })).toMatchObject({ kind: 'refused' })
    expect(await rowsOf(id)).toMatchObject([{ hostId: unclean.hostId, workerId: unclean.workerId, state: 'STARTING' }])
    const worker = await database().prisma.worker.findUniqueOrThrow({ where: { id: unclean.workerId } })
    expect(worker).toMatchObject({ hostId: unclean.hostId, reachability: 'REACHABLE' })
  })
})
