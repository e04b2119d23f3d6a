import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { Tail } from '../../../src/feed/tail.ts'
import type { ServiceId } from '../../../src/model/id.ts'
import type { ReplicaReport, ServiceIntent } from '../../../src/model/intent.ts'
import { noMeter } from '../../../src/model/metrics.ts'
import { renewLease } from '../../../src/store/access/lease.ts'
import type { Committer } from '../../../src/store/commit/committer.ts'
import { readEndpoint } from '../../../src/store/read/readEndpoint.ts'
import { tellServices } from '../../../src/systems/workers/tellServices.ts'
import { beginDrain } from '../../../src/systems/workers/workerDrain.ts'
import { WorkerLeases } from '../../../src/systems/workers/workerLeases.ts'
import { registerWorker } from '../../../src/systems/workers/workerRegistration.ts'
import { reportReplicas } from '../../../src/systems/workers/workerReports.ts'
import { registrationOf, TestStore } from '../../support/drivers/store.ts'
import { eachDatabase, silent } from '../../support/fixtures/databases.ts'
import { content, reportOf } from '../../support/fixtures/services.ts'

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
    worker: Parameters<typeof registrationOf>[0],
    running: readonly ReplicaReport[] = [],
    { committer }: Pick<TestStore, 'committer'> = store,
  ) => registerWorker({ committer, database: database(), log: silent }, registrationOf(worker), running)
  const hostOf = (name: string) =>
    database().prisma.host.findUniqueOrThrow({ where: { name }, include: { workers: true } })

  test('under a new name on a new host it is the same worker by its state directory: what it is told to stop has left the endpoint', async () => {
    const [host, stateDirectoryId] = [await only(), randomUUID()]
    const before = await store.register({ name: host, host, stateDirectoryId })
    const id = await store.create({ replicas: 2, content: content({ cpuMillis: 100, memoryMiB: 10 }) })
    expect(await store.place([id])).toBe(2)
    await store.reportReady(id, before, 1)
    const reports = [...(await store.load(id)).replicas.values()].map((row) => reportOf(row))
    // The machine has another name now, and both follow it.
    const answer = await register({ name: `${host}-new`, host: `${host}-new`, stateDirectoryId }, reports)
    expect(answer).toMatchObject({
      kind: 'registered',
      workerId: before.workerId,
      stop: reports.map(({ replica }) => replica),
    })
    expect((await readEndpoint(database(), id))?.addresses).toEqual([])
    expect(await hostOf(host)).toMatchObject({ reachability: 'LOST', workers: [] })
    expect((await hostOf(`${host}-new`)).workers).toMatchObject([{ name: `${host}-new`, reachability: 'LOST' }])
  })

  /** What those hear who follow a host: its last fact, and what its event says. */
  async function lastNewsOf(name: string): Promise<string | undefined> {
    const { id: hostId } = await hostOf(name)
    const fact = await database().prisma.fact.findFirst({
      where: { hostId, kind: 'host' },
      orderBy: { revision: 'desc' },
    })
    return (await database().prisma.event.findFirst({ where: { revision: fact?.revision ?? 0n, hostId } }))?.message
  }
  const portsBack = (host: string) =>
    `Host ${host} has the ports back that were kept for a worker which is gone, or runs nothing of it any more.`
  const keptOn = async (name: string) =>
    database().prisma.hostPort.count({ where: { host: { name }, lostWorkerId: { not: null } } })
  /** A worker that was lost with a replica, which its services know. Its host keeps the port. */
  async function lostWithReplica(host: string, stateDirectoryId: string) {
    const worker = await store.register({ name: host, host, stateDirectoryId })
    const id = await store.create({ replicas: 1, content: content({ cpuMillis: 100, memoryMiB: 10 }) })
    expect(await store.place([id])).toBe(1)
    await store.reportReady(id, worker, 1)
    await store.committer.write({ kind: 'leaveHost', ...worker, to: 'another' })
    await tellServices({ committer: store.committer, database: database() }, [worker.hostId])
    expect(await keptOn(host)).toBe(1)
    return worker
  }

  test('the host that a worker has left says so, and has its ports back in the same commit', async () => {
    const [host, stateDirectoryId] = [await only(), randomUUID()]
    await lostWithReplica(host, stateDirectoryId)
    // Its server dies before it looks at anything else.
    await store.register({ name: host, host: `${host}-b`, stateDirectoryId, clean: true })
    expect(await lastNewsOf(host)).toBe(`Worker ${host} of host ${host} is on host ${host}-b now. ${portsBack(host)}`)
    expect(await lastNewsOf(`${host}-b`)).toContain(`Worker ${host} registered on host ${host}-b (epoch 3)`)
    expect(await keptOn(host)).toBe(0)
    const [last, before] = await database().prisma.fact.findMany({ orderBy: { revision: 'desc' }, take: 2 })
    const head = (await database().prisma.feed.findFirstOrThrow()).head
    expect([last?.revision, before?.revision]).toEqual([head, head - 1n])
  })

  test('one that has to be clean first leaves its ports kept where it was, until it says that it is', async () => {
    const [host, stateDirectoryId] = [await only(), randomUUID()]
    await lostWithReplica(host, stateDirectoryId)
    const unclean = await store.register({ name: host, host: `${host}-b`, stateDirectoryId, clean: false })
    expect(await lastNewsOf(host)).toBe(`Worker ${host} of host ${host} is on host ${host}-b now.`)
    expect(await keptOn(host)).toBe(1)
    expect(await store.committer.write({ kind: 'returnWorker', ...unclean })).toMatchObject({ changed: true })
    expect(await keptOn(host)).toBe(0)
    expect(await lastNewsOf(host)).toBe(portsBack(host))
    expect(await lastNewsOf(`${host}-b`)).toBe(`Host ${host}-b is back, and runs nothing that was replaced.`)
  })

  test('the host of a lost worker whose name another one takes elsewhere says what becomes of it', async () => {
    const host = await only()
    const lost = await lostWithReplica(host, randomUUID())
    const taken = { name: host, host: `${host}-b`, stateDirectoryId: randomUUID() }
    expect(await register(taken)).toMatchObject({ kind: 'registered' })
    const aside = `${host}.lost-${lost.workerId.slice(-8)}`
    expect(await lastNewsOf(host)).toBe(
      `Worker ${host} of host ${host} is named ${aside} now: it is lost, and a worker of host ${host}-b has its name.`,
    )
    await database().prisma.hostPort.deleteMany({ where: { lostWorkerId: lost.workerId } })
    expect(await register({ name: aside, host: `${host}-c`, stateDirectoryId: randomUUID() })).toMatchObject({
      kind: 'registered',
    })
    expect((await hostOf(host)).workers).toEqual([])
    expect(await lastNewsOf(host)).toBe(
      `Worker ${aside} of host ${host} is forgotten: it was lost, nothing is kept for it, and a worker of host ${host}-c has its name.`,
    )
  })

  test('one that is refused a name leaves its host for nothing', async () => {
    const [host, stateDirectoryId] = [await only(), randomUUID()]
    const before = await store.register({ name: host, host, stateDirectoryId })
    await store.register({ name: `${host}-taken`, host: `${host}-b`, stateDirectoryId: randomUUID() })
    expect(await register({ name: `${host}-taken`, host: `${host}-b`, stateDirectoryId })).toMatchObject({
      kind: 'refused',
    })
    expect((await hostOf(host)).workers).toMatchObject([{ name: host, reachability: 'REACHABLE', epoch: before.epoch }])
  })

  /** A server on which a service is broken: whatever it is told fails. */
  function brokenFor(service: ServiceId): Committer {
    return new Proxy(store.committer, {
      get: (target, key) => {
        if (key === 'submit')
          return (id: ServiceId, intent: ServiceIntent) =>
            id === service ? Promise.reject(new Error('The rules failed.')) : target.submit(id, intent)
        return target[key as 'write'].bind(target)
      },
    })
  }
  /** Two services with a replica each on the same worker. */
  async function two(host: string, stateDirectoryId: string) {
    const worker = await store.register({ name: host, host, stateDirectoryId })
    const [broken, well] = [await withReplica(), await withReplica()]
    for (const id of [broken, well]) await store.reportReady(id, worker, 1)
    return { worker, broken, well }
  }
  const withReplica = async (): Promise<ServiceId> => {
    const id = await store.create({ replicas: 1, content: content({ cpuMillis: 100, memoryMiB: 10 }) })
    expect(await store.place([id])).toBe(1)
    return id
  }
  const ready = async (id: ServiceId) => (await store.load(id)).columns.readyReplicas

  test('a service that can’t be told keeps no worker out: the worker is asked for everything until that is told too', async () => {
    const [host, stateDirectoryId] = [await only(), randomUUID()]
    const { broken, well } = await two(host, stateDirectoryId)
    const running = await Promise.all(
      [broken, well].map(async (id) => [...(await store.load(id)).replicas.values()].map((row) => reportOf(row))),
    )
    const [, kept = []] = running
    // Started anew, it has lost the replica of the broken service.
    const answer = await register({ name: host, host, stateDirectoryId }, kept, { committer: brokenFor(broken) })
    if (answer.kind !== 'registered') throw new Error('refused')
    expect(answer.stop).toEqual([])
    expect([await ready(broken), await ready(well)]).toEqual([1, 1])
    expect(await renewLease(database(), answer.workerId, answer.epoch, 15)).toMatchObject({ resync: true })
    const claim = { workerId: answer.workerId, epoch: answer.epoch, subject: 'worker' }
    const report = (committer: Committer, sequence: number, full: boolean) =>
      reportReplicas(
        { committer, database: database(), meter: noMeter, log: silent },
        claim,
        sequence,
        full ? kept : running.flat(),
        full,
      )
    // As long as it is broken, the others are heard all the same.
    for (const [at, full] of [true, false].entries()) {
      expect(await report(brokenFor(broken), at + 1, full)).toMatchObject({ kind: 'done', fenced: [] })
      expect(await renewLease(database(), answer.workerId, answer.epoch, 15)).toMatchObject({ resync: true })
    }
    expect(await report(store.committer, 3, true)).toMatchObject({ kind: 'done', fenced: [] })
    expect([await ready(broken), await ready(well)]).toEqual([0, 1])
    expect(await renewLease(database(), answer.workerId, answer.epoch, 15)).toMatchObject({ resync: false })
  })

  test('a service that can’t be told keeps no other one from hearing what became of their worker, and who looks next tells it', async () => {
    const host = await only()
    const { worker, broken, well } = await two(host, randomUUID())
    await store.committer.write({ kind: 'leaveHost', ...worker, to: 'another' })
    const settle = (committer: Committer) => tellServices({ committer, database: database() }, [worker.hostId])
    await expect(settle(brokenFor(broken))).rejects.toThrow('The rules failed.')
    expect([await ready(broken), await ready(well)]).toEqual([1, 0])
    await settle(store.committer)
    expect(await ready(broken)).toBe(0)
  })

  test('a service that can’t be told keeps no lost worker from coming back, and none from draining', async () => {
    const host = await only()
    const { worker, broken, well } = await two(host, randomUUID())
    const parts = { committer: brokenFor(broken), database: database(), meter: noMeter, log: silent }
    const claim = { workerId: worker.workerId, epoch: worker.epoch, subject: 'worker' }
    expect(await beginDrain(parts, claim)).toMatchObject({ kind: 'done' })
    await store.committer.write({ kind: 'leaveHost', ...worker, to: 'another' })
    const epoch = worker.epoch + 1
    expect(await reportReplicas(parts, { ...claim, epoch }, 1, [], true)).toMatchObject({ kind: 'done', fenced: [] })
    expect((await hostOf(host)).workers).toMatchObject([{ reachability: 'REACHABLE' }])
    expect(await ready(well)).toBe(0)
  })

  test('a service that can’t be told keeps no server from starting', async () => {
    const host = await only()
    const { worker, broken, well } = await two(host, randomUUID())
    await store.committer.write({ kind: 'leaveHost', ...worker, to: 'another' })
    const tail = new Tail({ database: database(), committer: store.committer, log: silent })
    await tail.start()
    const parts = {
      database: database(),
      committer: brokenFor(broken),
      clock: store.clock,
      tail,
      log: silent,
      newId: randomUUID,
    }
    const leases = new WorkerLeases({ ...parts, config: { leaseSeconds: 600, graceSeconds: 600 } })
    await leases.start()
    expect([await ready(broken), await ready(well)]).toEqual([1, 0])
    await leases.stop()
    await tail.stop()
  })
})
