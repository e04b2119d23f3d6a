import { beforeAll, describe, expect, test } from 'vitest'
import type { ServiceId, WorkerId } from '../../../src/model/id.ts'
import type { Reporter } from '../../../src/model/intent.ts'
import { renewLease } from '../../../src/store/access/lease.ts'
import { createToken, findToken } from '../../../src/store/access/tokens.ts'
import { readAssignments } from '../../../src/store/read/readAssignments.ts'
import { readDueServices, readEarliestDue } from '../../../src/store/read/readDue.ts'
import { readEndpoint } from '../../../src/store/read/readEndpoint.ts'
import { readPlacement } from '../../../src/store/read/readPlacement.ts'
import { TestStore } from '../../support/drivers/store.ts'
import { eachDatabase } from '../../support/fixtures/databases.ts'
import { readHead } from '../../support/fixtures/readHead.ts'
import { reportOf } from '../../support/fixtures/services.ts'

eachDatabase((database) => {
  let store: TestStore
  let worker: Reporter
  beforeAll(async () => {
    store = await TestStore.on(database())
    worker = await store.register({ name: 'reader', host: 'node1', addresses: ['10.0.0.7', 'node1.local'] })
  })

  describe('the endpoint', () => {
    test('lists the addresses of confirmed replicas at the head', async () => {
      const id = await store.create({ replicas: 2 })
      expect(await readEndpoint(database(), id)).toEqual({
        revision: await readHead(database()),
        addresses: [],
        isGone: false,
      })
      await store.place([id])
      await store.reportReady(id, worker, 1)
      const table = await readEndpoint(database(), id)
      expect(table?.revision).toBe(await readHead(database()))
      expect(table?.addresses).toHaveLength(2)
      const { replicas } = await store.load(id)
      const [replica] = replicas.values()
      expect(table?.addresses.find(({ replicaId }) => replicaId === replica?.id)).toMatchObject({
        id: `${replica?.id}:http:1`,
        host: 'node1',
        address: '10.0.0.7',
        addresses: ['10.0.0.7', 'node1.local'],
        port: replica?.ports[0]?.port,
        ready: true,
        terminating: false,
      })
    })

    test('of a service that does not exist is null', async () => {
      expect(await readEndpoint(database(), 'none' as ServiceId)).toBeNull()
    })
  })

  test('assignments: what runs is to run, what stops is to stop, what has ended is gone', async () => {
    const host = await store.register({ cpuMillis: 300 })
    await database().prisma.host.update({ where: { id: worker.hostId }, data: { scheduling: 'CORDONED' } })
    const id = await store.create({ replicas: 3 })
    expect(await store.place([id])).toBe(3)
    await database().prisma.host.update({ where: { id: worker.hostId }, data: { scheduling: 'OPEN' } })
    await store.reportReady(id, host, 1)
    const all = await readAssignments(database(), host.workerId, 'all')
    expect(all.revision).toBe(await readHead(database()))
    const service = await store.load(id)
    expect(all.assignments.map(({ goal, service: name, project }) => [goal, name, project])).toEqual(
      Array.from({ length: 3 }, () => ['RUN', service.name, 'default']),
    )
    expect(all.assignments[0]).toMatchObject({
      versionNumber: 1,
      content: { command: ['/bin/serve'] },
      ports: [{ name: 'http' }],
    })
    await store.scale(id, 1)
    const stopping = [...(await store.load(id)).replicas.values()].filter(({ state }) => state === 'STOPPING')
    expect(stopping).toHaveLength(2)
    const ids = stopping.map((replica) => replica.id)
    const some = await readAssignments(database(), host.workerId, ids)
    expect(some.assignments.map(({ replicaId, goal }) => [replicaId, goal])).toEqual(
      ids.map((replica) => [replica, 'STOP']),
    )
    const [first] = stopping
    if (!first) throw new Error('none is stopping')
    const ended = reportOf(first, { state: 'ENDED', ready: false, endReason: 'STOPPED', exitCode: 0 })
    await store.committer.submit(id, { kind: 'report', reporter: host, sequence: 2, reports: [ended] })
    expect((await readAssignments(database(), host.workerId, [first.id])).assignments).toEqual([])
    expect((await readAssignments(database(), 'none' as WorkerId, 'all')).assignments).toEqual([])
  })

  test('placement sees what waits, with its queue and service, and what hosts have', async () => {
    const id = await store.create({ replicas: 2 })
    await store.place([id])
    await store.scale(id, 3)
    const { waiting, hosts, projects } = await readPlacement(database())
    const own = waiting.filter(({ serviceId }) => serviceId === id)
    expect(own).toHaveLength(1)
    expect(own[0]).toMatchObject({
      index: 2,
      queuePriority: 0,
      cpuMillis: 100,
      spreadMode: 'BEST_EFFORT',
      maxPerHost: 1,
      holdsQuota: false,
    })
    expect(own[0]?.ports).toEqual([{ name: 'http', port: null, protocol: 'TCP' }])
    const counts = hosts.map((host) => host.replicasOf.get(id) ?? 0)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2)
    const taken = hosts.flatMap(({ takenPorts }) => takenPorts)
    expect(taken.length).toBe(await database().prisma.hostPort.count())
    const project = await database().prisma.project.findUniqueOrThrow({ where: { name: 'default' } })
    expect(projects).toEqual([
      { id: project.id, name: 'default', maxReplicas: null, usedReplicas: project.usedReplicas },
    ])
    await store.scale(id, 2)
  })

  test('a replica that waits for its backoff is not placed before', async () => {
    const id = await store.create({ replicas: 1 })
    const [replica] = (await store.load(id)).replicas.keys()
    const waits = async () => (await readPlacement(database())).waiting.some(({ serviceId }) => serviceId === id)
    expect(await waits()).toBe(true)
    const at = (millis: number) =>
      database().prisma.replica.update({
        where: { id: replica ?? '' },
        data: { notBefore: new Date(Date.now() + millis) },
      })
    await at(3_600_000)
    expect(await waits()).toBe(false)
    await at(-3_600_000)
    expect(await waits()).toBe(true)
  })

  test('due timers: the longest due first, ≥ at the very instant', async () => {
    await database().prisma.timer.deleteMany()
    expect(await readEarliestDue(database())).toBeNull()
    const [first, second, third] = await Promise.all([
      store.create({ replicas: 0 }),
      store.create({ replicas: 0 }),
      store.create({ replicas: 0 }),
    ])
    await database().prisma.timer.deleteMany()
    const arm = (serviceId: string, kind: 'BACKOFF' | 'MIN_READY', dueAt: number) =>
      database().prisma.timer.create({ data: { serviceId, kind, dueAt: new Date(dueAt) } })
    await arm(first, 'BACKOFF', 2_000)
    await arm(second, 'MIN_READY', 1_000)
    await arm(second, 'BACKOFF', 3_000)
    await arm(third, 'BACKOFF', 5_000)
    expect(await readEarliestDue(database())).toBe(1_000)
    expect(await readDueServices(database(), 999, 10)).toEqual([])
    expect(await readDueServices(database(), 2_000, 10)).toEqual([second, first])
    expect(await readDueServices(database(), 9_000, 2)).toEqual([second, first])
  })

  test('a lease is renewed for the current epoch only', async () => {
    const { leaseUntil } = await database().prisma.worker.findUniqueOrThrow({ where: { id: worker.workerId } })
    expect(await renewLease(database(), worker.workerId, worker.epoch, 60)).toMatchObject({ resync: false })
    const renewed = await database().prisma.worker.findUniqueOrThrow({ where: { id: worker.workerId } })
    expect(renewed.leaseUntil.getTime()).toBeGreaterThan(leaseUntil.getTime())
    expect(await renewLease(database(), worker.workerId, worker.epoch - 1, 60)).toBeNull()
  })

  test('a token is found by itself only and kept as a hash', async () => {
    const token = await createToken(database(), { subject: 'alice', roles: ['admin', 'user'] })
    expect(await findToken(database(), token)).toMatchObject({ subject: 'alice', roles: ['admin', 'user'] })
    expect(await findToken(database(), `${token}x`)).toBeNull()
    expect(JSON.stringify(await database().prisma.token.findMany())).not.toContain(token)
  })
})
