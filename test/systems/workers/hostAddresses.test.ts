import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import type { EndpointAddress } from '../../../src/model/endpoint.ts'
import type { ServiceFactData } from '../../../src/model/fact.ts'
import type { ReplicaId, ServiceId } from '../../../src/model/id.ts'
import type { Reporter } from '../../../src/model/intent.ts'
import { noMeter } from '../../../src/model/metrics.ts'
import type { Committer } from '../../../src/store/commit/committer.ts'
import type { JudgeWorker } from '../../../src/store/commit/outcome.ts'
import { readAdopters } from '../../../src/store/read/readAdopters.ts'
import { readEndpoint } from '../../../src/store/read/readEndpoint.ts'
import { readUnsettled } from '../../../src/store/read/readUnsettled.ts'
import { tellServices } from '../../../src/systems/workers/tellServices.ts'
import { registerWorker } from '../../../src/systems/workers/workerRegistration.ts'
import { reportReplicas } from '../../../src/systems/workers/workerReports.ts'
import { leasedStores } from '../../support/drivers/leasedStores.ts'
import { registrationOf, TestStore } from '../../support/drivers/store.ts'
import { eachDatabase, silent } from '../../support/fixtures/databases.ts'
import { content, reportOf } from '../../support/fixtures/services.ts'

eachDatabase((database) => {
  const stores = leasedStores(database)
  let store: TestStore
  beforeAll(async () => {
    store = (await stores.open()).store
  })

  let made = 0
  /** The name of a host that is the only one to take replicas. */
  async function onlyHost(): Promise<string> {
    await stores.cordonAll()
    return `only-${++made}`
  }
  async function judge(reporter: Reporter, ...verdicts: JudgeWorker['to'][]): Promise<void> {
    for (const to of verdicts) await stores.judge(reporter, to)
    await settle(reporter.hostId)
  }
  const partsOf = (committer: Committer) => ({ committer, database: database(), log: silent, meter: noMeter })
  const settle = (hostId: Reporter['hostId']) => tellServices(partsOf(store.committer), [hostId])
  const rowsOf = async (id: ServiceId) => [...(await store.load(id)).replicas.values()]
  const runningOf = async (id: ServiceId) => (await rowsOf(id)).map((row) => reportOf(row))
  const kindsOf = async ({ hostId }: Reporter) => (await readUnsettled(database(), [hostId])).map(({ kind }) => kind)
  /** Another server on the same database, which has had no service in its cache so far. */
  const another = async () => (await TestStore.on(database())).committer

  /** A service of two replicas that serve, on a host that has these workers. */
  async function serving(...names: readonly string[]): Promise<{ host: string; id: ServiceId; workers: Reporter[] }> {
    const host = await onlyHost()
    const workers: Reporter[] = []
    for (const name of names)
      workers.push(await store.register({ name: `${host}-${name}`, host, stateDirectoryId: `${host}-${name}` }))
    const id = await store.create({ replicas: 2, content: content({ cpuMillis: 100, memoryMiB: 10 }) })
    expect(await store.place([id])).toBe(2)
    for (const reporter of workers) await store.reportReady(id, reporter, 1)
    return { host, id, workers }
  }

  /** The table as one has it who follows from now on, and as a new subscriber reads it: revision by revision they are the same (R12). */
  async function follow(id: ServiceId): Promise<() => Promise<readonly string[]>> {
    const begun = await readEndpoint(database(), id)
    const table = new Map((begun?.addresses ?? []).map((address) => [address.id, address]))
    let cursor = begun?.revision ?? 0n
    return async () => {
      const read = await readEndpoint(database(), id)
      const facts = await database().prisma.fact.findMany({
        where: { serviceId: id, kind: 'change', revision: { gt: cursor, lte: read?.revision ?? 0n } },
        orderBy: { revision: 'asc' },
      })
      for (const { revision, data } of facts) {
        const { removed, upserted } = data as unknown as ServiceFactData
        for (const gone of removed) table.delete(gone)
        for (const address of upserted) table.set(address.id, address)
        cursor = revision
      }
      const sorted = (addresses: readonly EndpointAddress[]) => [...addresses].sort((a, b) => (a.id < b.id ? -1 : 1))
      expect(sorted([...table.values()])).toEqual(sorted(read?.addresses ?? []))
      return sorted([...table.values()]).map(({ address }) => address)
    }
  }

  test('a server dies between the registration and the adoptions: who takes the worker next tells the addresses', async () => {
    const { host, id } = await serving('a')
    const table = await follow(id)
    await store.register({
      name: `${host}-a`,
      host,
      stateDirectoryId: `${host}-a`,
      addresses: ['10.0.0.2'],
      clean: false,
    })
    expect(await table()).toEqual(['10.0.0.1', '10.0.0.1'])
    const parts = partsOf(await another())
    await registerWorker(
      parts,
      registrationOf({ name: `${host}-a`, host, stateDirectoryId: `${host}-a`, addresses: ['10.0.0.2'] }),
      await runningOf(id),
    )
    expect(await table()).toEqual(['10.0.0.2', '10.0.0.2'])
  })

  test('a server dies between the registration and the adoptions: the next look tells the addresses, though the worker never comes again', async () => {
    const { host, id, workers } = await serving('a', 'b')
    const table = await follow(id)
    const again = await store.register({
      name: `${host}-a`,
      host,
      stateDirectoryId: `${host}-a`,
      addresses: ['10.0.0.2', 'fd00::2'],
      clean: false,
    })
    expect(await kindsOf(again)).toEqual(['hostAddresses', 'hostAddresses'])
    expect(await readUnsettled(database(), 'all')).toEqual(await readUnsettled(database(), [again.hostId]))
    await tellServices(partsOf(await another()), 'all')
    expect(await table()).toEqual(['10.0.0.2', '10.0.0.2'])
    expect(await kindsOf(again)).toEqual([])
    // The first one that is to start again at the new address has its replacement, which waits.
    const placed = (await rowsOf(id)).filter(({ hostId }) => hostId !== null)
    expect(placed.map(({ workerId, hostAddresses }) => [workerId, hostAddresses]).sort()).toEqual(
      workers.map(({ workerId }) => [workerId, ['10.0.0.2', 'fd00::2']]).sort(),
    )
  })

  test('a server that had the service in its cache no more takes the registration', async () => {
    const { host, id } = await serving('a')
    const table = await follow(id)
    const parts = partsOf(await another())
    await registerWorker(
      parts,
      registrationOf({ name: `${host}-a`, host, stateDirectoryId: `${host}-a`, addresses: ['10.0.0.2'] }),
      await runningOf(id),
    )
    expect(await table()).toEqual(['10.0.0.2', '10.0.0.2'])
  })

  test('a worker that has to be clean first brings other addresses while its neighbour is silent', async () => {
    const { host, id, workers } = await serving('a', 'b')
    const [a, b] = workers as [Reporter, Reporter]
    await judge(b, 'UNREACHABLE', 'LOST')
    const mine = (await rowsOf(id)).filter((row) => row.workerId === a.workerId && row.hostId !== null)
    await judge(a, 'UNREACHABLE')
    const table = await follow(id)
    const parts = partsOf(store.committer)
    const unclean = registrationOf({ name: `${host}-b`, host, stateDirectoryId: `${host}-b`, addresses: ['10.0.0.9'] })
    const answer = await registerWorker(parts, unclean, [
      reportOf({ id: randomUUID() as ReplicaId, start: 1, ports: [] }),
    ])
    expect(answer).toMatchObject({ kind: 'registered', stop: { length: 1 } })
    expect(await table()).toEqual(mine.map(() => '10.0.0.9'))
    // Back within its grace.
    const claim = { workerId: a.workerId, epoch: a.epoch, subject: 'worker' }
    await reportReplicas(
      parts,
      claim,
      2,
      mine.map((row) => reportOf(row)),
      true,
    )
    expect(await table()).toEqual(mine.map(() => '10.0.0.9'))
    expect((await readEndpoint(database(), id))?.addresses.every(({ ready }) => ready)).toBe(true)
  })

  test('what changes between the registration and its telling is told where clients know it to be', async () => {
    const { host, id, workers } = await serving('a')
    const [a] = workers as [Reporter]
    const table = await follow(id)
    const again = await store.register({
      name: `${host}-a`,
      host,
      stateDirectoryId: `${host}-a`,
      addresses: [],
      clean: false,
    })
    const [row] = await rowsOf(id)
    if (row === undefined) throw new Error('no row')
    const reports = [reportOf(row, { ready: false })]
    await (await another()).submit(id, { kind: 'report', reporter: again, sequence: 1, reports })
    expect(await table()).toEqual(['10.0.0.1', '10.0.0.1'])
    await settle(a.hostId)
    expect(await table()).toEqual([])
    await store.register({
      name: `${host}-a`,
      host,
      stateDirectoryId: `${host}-a`,
      addresses: ['10.0.0.3'],
      clean: false,
    })
    expect(await table()).toEqual([])
    await settle(a.hostId)
    expect(await table()).toEqual(['10.0.0.3', '10.0.0.3'])
  })

  test('addresses that are others again by then are not told', async () => {
    const { host, id, workers } = await serving('a')
    const [{ hostId, workerId: name }] = workers as [Reporter]
    const late = {
      kind: 'hostAddresses',
      worker: name,
      host: { id: hostId, name: host, addresses: ['10.0.0.2'] },
    } as const
    const again = await store.register({
      name: `${host}-a`,
      host,
      stateDirectoryId: `${host}-a`,
      addresses: ['10.0.0.2'],
      clean: false,
    })
    await store.register({
      name: `${host}-a`,
      host,
      stateDirectoryId: `${host}-a`,
      addresses: ['10.0.0.1'],
      clean: false,
    })
    expect(await store.committer.submit(id, late)).toEqual({ kind: 'done', changed: false })
    expect(await kindsOf(again)).toEqual([])
    expect((await rowsOf(id)).map(({ hostAddresses }) => hostAddresses)).toEqual([['10.0.0.1'], ['10.0.0.1']])
  })

  test('a registration is news to the services of its worker, and to those that have told other addresses', async () => {
    const host = await onlyHost()
    const small = content({ cpuMillis: 1_000, memoryMiB: 1 })
    const a = await store.register({ name: `${host}-a`, host, cpuMillis: 1_000 })
    const mine = await store.create({ replicas: 1, content: small })
    expect(await store.place([mine])).toBe(1)
    const b = await store.register({ name: `${host}-b`, host, cpuMillis: 1_000 })
    const other = await store.create({ replicas: 1, content: small })
    expect(await store.place([other])).toBe(1)
    expect(await readAdopters(database(), a)).toEqual([mine])
    expect(await readAdopters(database(), b)).toEqual([other])
    await store.register({ name: `${host}-b`, host, cpuMillis: 1_000, addresses: ['10.0.0.7'], clean: false })
    expect(new Set(await readAdopters(database(), a))).toEqual(new Set([mine, other]))
  })
})
