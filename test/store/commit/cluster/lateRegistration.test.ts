import { beforeAll, expect, test } from 'vitest'
import type { ServiceId } from '../../../../src/model/id.ts'
import type { Reporter } from '../../../../src/model/intent.ts'
import { noMeter } from '../../../../src/model/metrics.ts'
import type { RegisterWorker } from '../../../../src/store/commit/outcome.ts'
import type { Database } from '../../../../src/store/database/database.ts'
import { tellServices } from '../../../../src/systems/workers/tellServices.ts'
import { registerWorker } from '../../../../src/systems/workers/workerRegistration.ts'
import { reportReplicas } from '../../../../src/systems/workers/workerReports.ts'
import { leasedStores } from '../../../support/drivers/leasedStores.ts'
import { registrationOf, TestStore } from '../../../support/drivers/store.ts'
import { eachDatabase, silent } from '../../../support/fixtures/databases.ts'
import { content } from '../../../support/fixtures/services.ts'

// R15: a server takes a registration late. It decided on it, or only heard it, before something else became of the worker by another server.

eachDatabase((database) => {
  let store: TestStore
  const { open, judge, cordonAll } = leasedStores(database)
  beforeAll(async () => {
    ;({ store } = await open())
  })

  let made = 0
  /** A host of its own, the only one that is open. */
  async function only(): Promise<string> {
    await cordonAll()
    return `late-${++made}`
  }
  const said = registrationOf
  /** A server that stands still once, when it has decided on a registration and is about to write it, until `meanwhile` is over. */
  async function slow(
    meanwhile: () => Promise<unknown>,
  ): Promise<{ readonly store: TestStore; readonly database: Database }> {
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
  async function lose(reporter: Reporter): Promise<void> {
    for (const to of ['UNREACHABLE', 'LOST'] as const)
      expect(await judge(reporter, to)).toMatchObject({ changed: true })
    await tellServices({ database: database(), committer: store.committer }, [reporter.hostId])
  }
  const partsOf = ({ committer }: TestStore, of = database()) => ({ committer, database: of, log: silent })
  /** With the server that is not slow, as one that runs nothing. */
  async function register(worker: Omit<RegisterWorker, 'kind'>): Promise<Reporter> {
    const answer = await registerWorker(partsOf(store), worker, [])
    if (answer.kind !== 'registered') throw new Error(`refused: ${answer.refusal.message}`)
    return answer
  }
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

  test.each([
    ['a known worker', 1],
    ['a new worker', 0],
  ])(
    '%s has registered with another server meanwhile: the late registration is refused, and the newer one stays',
    async (_who, known) => {
      const host = await only()
      const worker = (registrationNumber: number) => said({ name: host, host, registrationNumber })
      if (known > 0) await register(worker(known))
      let newer: Reporter | null = null
      const late = await slow(async () => {
        newer = await register(worker(known + 2))
      })
      const answer = await registerWorker(partsOf(late.store, late.database), worker(known + 1), [])
      expect(answer).toMatchObject({ kind: 'refused', refusal: { code: 'OVERTAKEN', newest: known + 2 } })
      if (newer === null) throw new Error('it has not registered meanwhile')
      const { workerId, epoch } = newer as Reporter
      const reported = reportReplicas(
        { ...partsOf(store), meter: noMeter },
        { workerId, epoch, subject: 'worker' },
        1,
        [],
        true,
      )
      expect(await reported).toMatchObject({ kind: 'done' })
      // Its next one is above both.
      expect(await register(worker(known + 3))).toMatchObject({ workerId, epoch: epoch + 1 })
    },
  )

  test('a worker that registered elsewhere was lost since, with replicas: the late word that it runs nothing gives no ports back', async () => {
    const host = await only()
    const worker = (registrationNumber: number) => said({ name: host, host, registrationNumber })
    const { workerId } = await register(worker(1))
    const late = await slow(async () => {
      const newer = await register(worker(3))
      const id = await store.create({ replicas: 2, content: small })
      expect(await store.place([id])).toBe(2)
      await store.reportReady(id, newer, 1)
      await lose(newer)
    })
    const answer = await registerWorker(partsOf(late.store, late.database), worker(2), [])
    expect(answer).toMatchObject({ kind: 'refused', refusal: { code: 'OVERTAKEN' } })
    expect(await database().prisma.worker.findUnique({ where: { id: workerId } })).toMatchObject({
      reachability: 'LOST',
    })
    expect(await database().prisma.hostPort.count({ where: { lostWorkerId: workerId } })).toBe(2)
  })

  test('a late registration on another host makes the worker leave nothing', async () => {
    const host = await only()
    const newer = await register(said({ name: host, host, registrationNumber: 2 }))
    const before = said({ name: host, host: `${host}-b`, registrationNumber: 1 })
    expect(await registerWorker(partsOf(store), before, [])).toMatchObject({
      kind: 'refused',
      refusal: { code: 'OVERTAKEN' },
    })
    const row = await database().prisma.worker.findUnique({ where: { id: newer.workerId } })
    expect(row).toMatchObject({ hostId: newer.hostId, epoch: newer.epoch, reachability: 'REACHABLE' })
  })
})
