import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import type { ServiceId } from '../../../../src/model/id.ts'
import type { Reporter } from '../../../../src/model/intent.ts'
import type { RegisterWorker } from '../../../../src/store/commit/outcome.ts'
import { readAssignments } from '../../../../src/store/read/readAssignments.ts'
import { tellServices } from '../../../../src/systems/workers/tellServices.ts'
import { leasedStores } from '../../../support/drivers/leasedStores.ts'
import { registrationOf, type TestStore } from '../../../support/drivers/store.ts'
import { eachDatabase } from '../../../support/fixtures/databases.ts'
import { content, reportOf } from '../../../support/fixtures/services.ts'

// R15: several workers on one host, as a batch system starts them. Ports, addresses and the operators' intent are the host's; lease, epoch, capacity and
// replicas are the worker's.

eachDatabase((database) => {
  let store: TestStore
  /** Another server on the same database. */
  let other: TestStore
  const { open, judge, tell, cordonAll } = leasedStores(database)
  beforeAll(async () => {
    ;({ store, other } = await open())
  })

  let made = 0
  /** Workers on a host of their own, the only one that is open. */
  async function workers(
    ...capacities: readonly Partial<RegisterWorker>[]
  ): Promise<{ host: string; all: Reporter[] }> {
    await cordonAll()
    const host = `shared-${++made}`
    const all: Reporter[] = []
    for (const [at, over] of capacities.entries())
      all.push(await store.register({ name: `${host}-${at}`, host, ...over }))
    return { host, all }
  }
  const hostOf = (name: string) =>
    database().prisma.host.findUniqueOrThrow({
      where: { name },
      include: { workers: { orderBy: { name: 'asc' } }, hostPorts: true },
    })
  const rowsOf = async (id: ServiceId) => [...(await store.load(id)).replicas.values()]
  const on = async (id: ServiceId, { workerId }: Reporter) =>
    (await rowsOf(id)).filter((row) => row.workerId === workerId && row.hostId !== null)
  const small = content({ cpuMillis: 100, memoryMiB: 10 })
  /** A service whose replicas are spread over the workers, running and ready. */
  async function running(all: readonly Reporter[], replicas: number): Promise<ServiceId> {
    const id = await store.create({ replicas, content: small })
    expect(await store.place([id])).toBe(replicas)
    for (const reporter of all) await store.reportReady(id, reporter, 1)
    return id
  }
  const changed = { kind: 'done', changed: true }
  const unchanged = { kind: 'done', changed: false }

  test('the host has the room of all; a replica takes that of one, and what fits on none of them waits', async () => {
    const { host, all } = await workers({ cpuMillis: 1_000, memoryMiB: 100 }, { cpuMillis: 500, memoryMiB: 300 })
    expect(await hostOf(host)).toMatchObject({
      cpuMillis: 1_500,
      memoryMiB: 400,
      reachability: 'REACHABLE',
      reason: null,
    })
    const fits = await store.create({ replicas: 1, content: content({ cpuMillis: 800, memoryMiB: 80 }) })
    const leaves = await store.create({ replicas: 1, content: content({ cpuMillis: 400, memoryMiB: 200 }) })
    const neither = await store.create({ replicas: 1, content: content({ cpuMillis: 600, memoryMiB: 100 }) })
    expect(await store.place([neither, fits, leaves])).toBe(2)
    const [first, second] = all
    if (!first || !second) throw new Error('two workers')
    expect(
      [await on(fits, first), await on(leaves, second), await on(neither, second)].map((rows) => rows.length),
    ).toEqual([1, 1, 0])
    expect(await hostOf(host)).toMatchObject({ usedCpuMillis: 1_200, usedMemoryMiB: 280, usedPorts: 2 })
    // A worker has the assignments that are its own.
    const assigned = async ({ workerId }: Reporter) =>
      (await readAssignments(database(), workerId, 'all')).assignments.map((row) => row.replicaId)
    expect(await assigned(first)).toEqual((await rowsOf(fits)).map(({ id }) => id))
    expect(await assigned(second)).toEqual((await rowsOf(leaves)).map(({ id }) => id))
  })

  test('two servers that place at once never give a worker more than it has, nor a port twice', async () => {
    const { host, all } = await workers(
      { cpuMillis: 700, memoryMiB: 1_000 },
      { cpuMillis: 400, memoryMiB: 1_000 },
      { cpuMillis: 300 },
    )
    const ids = await Promise.all(Array.from({ length: 8 }, () => store.create({ replicas: 3, content: small })))
    for (let round = 0; round < 12; round++) await Promise.all([store.place(ids), other.place([...ids].reverse())])
    const placed = (await Promise.all(ids.map(rowsOf))).flat().filter(({ hostId }) => hostId !== null)
    const counts = all.map(({ workerId }) => placed.filter((row) => row.workerId === workerId).length)
    expect(counts).toEqual([7, 4, 3])
    expect(new Set(placed.flatMap(({ ports }) => ports.map(({ port }) => port))).size).toBe(14)
    expect(await hostOf(host)).toMatchObject({ usedCpuMillis: 1_400, usedPorts: 14, hostPorts: { length: 14 } })
  })

  test('a worker speaks for its own replicas only', async () => {
    const { all } = await workers({ cpuMillis: 200 }, { cpuMillis: 200 })
    const [a, b] = all as [Reporter, Reporter]
    const id = await running(all, 4)
    const [row] = await on(id, a)
    if (!row) throw new Error('a has some')
    const ended = reportOf(row, { state: 'ENDED', ready: false, endReason: 'EXITED' })
    expect(await store.committer.submit(id, { kind: 'report', reporter: b, sequence: 5, reports: [ended] })).toEqual(
      unchanged,
    )
    // Nor does what it does not have say anything of the others'.
    const full = {
      kind: 'report',
      reporter: b,
      sequence: 6,
      reports: (await on(id, b)).map((own) => reportOf(own)),
      full: true,
    } as const
    await store.committer.submit(id, full)
    expect((await store.load(id)).columns).toMatchObject({ readyReplicas: 4, activeReplicas: 4 })
  })

  test('one falls silent: its addresses leave, the others’ stay, and the host says so', async () => {
    const { host, all } = await workers({ cpuMillis: 200 }, { cpuMillis: 200 })
    const [a, b] = all as [Reporter, Reporter]
    const id = await running(all, 4)
    expect(await judge(b, 'UNREACHABLE')).toMatchObject({ kind: 'host', changed: true })
    expect(await hostOf(host)).toMatchObject({
      reachability: 'REACHABLE',
      reason: `Of its 2 workers ${host}-1 can't be reached.`,
      workers: [
        { reachability: 'REACHABLE', reason: null },
        { reachability: 'UNREACHABLE', reason: 'it is UNREACHABLE' },
      ],
    })
    // What is not so of a worker is refused, whatever is so of another one there.
    expect(await Promise.all([tell(id, 'unreach', b), tell(id, 'unreach', a), tell(id, 'lose', b)])).toEqual([
      changed,
      unchanged,
      unchanged,
    ])
    expect((await store.load(id)).columns).toMatchObject({ readyReplicas: 2, activeReplicas: 4 })
    expect(await store.reportReady(id, a, 2)).toEqual(changed)
    // Its room is nobody's while it is silent, and it takes nothing.
    await store.scale(id, 5)
    expect(await store.place([id])).toBe(0)
    await store.committer.write({ kind: 'returnWorker', ...b })
    await store.committer.submit(id, {
      ...{ kind: 'report', reporter: b, sequence: 2, full: true },
      reports: (await on(id, b)).map((row) => reportOf(row)),
    })
    expect((await store.load(id)).columns).toMatchObject({ readyReplicas: 4 })
    expect((await hostOf(host)).reason).toBeNull()
  })

  test('one is lost: its replicas end, and its ports stay held until it is back clean, though the host gives others', async () => {
    const range = { portRange: { from: 20_000, to: 20_003 } }
    const { host, all } = await workers({ cpuMillis: 10_000, ...range }, { cpuMillis: 10_000, ...range })
    const [a, b] = all as [Reporter, Reporter]
    const id = await running(all, 4)
    const own = (await on(id, b)).flatMap(({ ports }) => ports.map(({ port }) => port)).sort()
    expect(own).toHaveLength(2)
    await judge(b, 'UNREACHABLE')
    await judge(b, 'LOST', {}, other)
    await tellServices({ database: database(), committer: store.committer }, [b.hostId])
    const lost = await hostOf(host)
    expect(lost).toMatchObject({ reachability: 'REACHABLE', cpuMillis: 10_000, usedCpuMillis: 200, usedPorts: 2 })
    expect(
      lost.hostPorts
        .filter(({ lostWorkerId }) => lostWorkerId === b.workerId)
        .map(({ port }) => port)
        .sort(),
    ).toEqual(own)
    expect((await on(id, a)).map(({ state, ready }) => [state, ready])).toEqual([
      ['RUNNING', true],
      ['RUNNING', true],
    ])
    // Two wait for their places: no port is free.
    expect(await store.place([id])).toBe(0)
    await store.register({ name: `${host}-1`, host, clean: false, ...range })
    expect(await store.place([id])).toBe(0)
    const again = await store.register({ name: `${host}-1`, host, clean: true, ...range })
    expect(again).toMatchObject({ workerId: b.workerId, hostId: b.hostId })
    expect(await store.place([id])).toBe(2)
    expect(new Set((await rowsOf(id)).flatMap(({ ports }) => ports.map(({ port }) => port))).size).toBe(4)
  })

  test('a lost one is removed by an operator’s word, and forgotten by itself where nothing is kept for it', async () => {
    const { host, all } = await workers({}, {}, {})
    const [, b, c] = all as [Reporter, Reporter, Reporter]
    const id = await running(all, 6)
    const remove = (name: string) => store.committer.write({ kind: 'removeWorker', name, actor: 'alice' })
    expect(await remove(`${host}-1`)).toMatchObject({
      kind: 'refused',
      refusal: { code: 'INVALID_STATE', message: expect.stringContaining('is reachable') },
    })
    await judge(b, 'UNREACHABLE')
    expect(await remove(`${host}-1`)).toMatchObject({
      refusal: { message: expect.stringContaining('is not lost yet') },
    })
    const confirmed = await store.committer.write({ kind: 'confirmHostLoss', name: host, actor: 'alice' })
    expect(confirmed).toMatchObject({ kind: 'host', changed: true })
    expect(await remove(`${host}-1`)).toMatchObject({
      refusal: { message: expect.stringContaining('are being replaced: try again') },
    })
    await tellServices({ database: database(), committer: store.committer }, [b.hostId])
    // Another registration does not take the ports away.
    await store.register({ name: `${host}-0`, host })
    expect((await hostOf(host)).workers.map(({ name }) => name)).toEqual([`${host}-0`, `${host}-1`, `${host}-2`])
    expect(await remove(`${host}-1`)).toMatchObject({ kind: 'host', changed: true })
    expect(await remove(`${host}-1`)).toMatchObject({ refusal: { code: 'NOT_FOUND' } })
    expect((await hostOf(host)).hostPorts.filter(({ lostWorkerId }) => lostWorkerId !== null)).toEqual([])

    await store.scale(id, 0)
    const stopping = (await on(id, c)).map((row) =>
      reportOf(row, { state: 'ENDED', ready: false, endReason: 'STOPPED' }),
    )
    await store.committer.submit(id, { kind: 'report', reporter: c, sequence: 3, reports: stopping })
    await judge(c, 'UNREACHABLE')
    await judge(c, 'LOST')
    await store.register({ name: `${host}-0`, host })
    expect((await hostOf(host)).workers.map(({ name }) => name)).toEqual([`${host}-0`])
  })

  test('the last one lost is the host lost; one that returns clean brings it back', async () => {
    const { host, all } = await workers({}, {})
    for (const reporter of all) for (const to of ['UNREACHABLE', 'LOST'] as const) await judge(reporter, to)
    expect(await hostOf(host)).toMatchObject({ reachability: 'LOST', cpuMillis: 0, memoryMiB: 0, reason: 'it is LOST' })
    await store.register({ name: `${host}-1`, host, clean: true })
    expect(await hostOf(host)).toMatchObject({
      reachability: 'REACHABLE',
      reason: null,
      workers: [{ name: `${host}-1` }],
    })
  })

  test('one is drained: what it runs leaves for the others, also there, until its host is uncordoned or it starts again', async () => {
    const { host, all } = await workers({}, {})
    const [a, b] = all as [Reporter, Reporter]
    const id = await running(all, 4)
    const settled = () => tellServices({ database: database(), committer: store.committer }, [a.hostId])
    const leaving = async (reporter: Reporter) =>
      (await on(id, reporter)).map(({ state, leaving: why }) => (state === 'STOPPING' ? state : why))
    const drain = () => store.committer.write({ kind: 'drainWorker', ...a, actor: 'alice' })
    expect(await drain()).toMatchObject({ kind: 'host', changed: true })
    expect(await drain()).toMatchObject({ kind: 'host', changed: false })
    await settled()
    expect([await leaving(a), await leaving(b)]).toEqual([
      ['DRAIN', 'DRAIN'],
      [null, null],
    ])
    expect(await hostOf(host)).toMatchObject({
      scheduling: 'OPEN',
      reason: `Of its 2 workers ${host}-0 is being drained.`,
    })
    expect(await store.place([id])).toBeGreaterThan(0)
    expect(await on(id, a)).toHaveLength(2)

    const open = () => store.committer.write({ kind: 'scheduleHost', name: host, scheduling: 'OPEN', actor: 'alice' })
    expect(await open()).toMatchObject({ kind: 'host', changed: true })
    expect(await open()).toMatchObject({ refusal: { code: 'NO_CHANGE' } })
    await settled()
    // One has made room for its replacement by now; the other one stays.
    expect((await leaving(a)).sort()).toEqual(['STOPPING', null])
    await drain()
    await settled()
    expect((await leaving(a)).sort()).toEqual(['DRAIN', 'STOPPING'])
    await store.register({ name: `${host}-0`, host, clean: false })
    await settled()
    expect(await leaving(a)).not.toContain('DRAIN')
    expect((await hostOf(host)).workers[0]).toMatchObject({ draining: false })
  })

  test('under a new name it is the same worker by its state directory; on a new host it leaves the old one first', async () => {
    const one = randomUUID()
    const { host, all } = await workers({ stateDirectoryId: one }, {})
    const [a] = all as [Reporter]
    const id = await running(all, 2)
    const renamed = await store.register({ name: `${host}-renamed`, host, stateDirectoryId: one })
    expect(renamed).toMatchObject({ workerId: a.workerId, hostId: a.hostId, epoch: a.epoch + 1 })
    expect((await hostOf(host)).workers.map(({ name }) => name)).toEqual([`${host}-1`, `${host}-renamed`])

    // A registration elsewhere is refused while it is here.
    const elsewhere = registrationOf({ name: `${host}-renamed`, host: `${host}-b`, stateDirectoryId: one })
    const moved = { kind: 'registerWorker', ...elsewhere } as const
    expect(await store.committer.write(moved)).toMatchObject({
      kind: 'refused',
      refusal: { code: 'INVALID_INPUT' },
    })
    expect(await store.committer.write({ kind: 'leaveHost', ...renamed, to: `${host}-b` })).toMatchObject({
      changed: true,
    })
    await tellServices({ database: database(), committer: store.committer }, [a.hostId])
    expect(await on(id, a)).toEqual([])
    expect(await store.committer.write(moved)).toMatchObject({
      kind: 'worker',
      workerId: a.workerId,
      returned: true,
    })
    expect((await hostOf(host)).hostPorts.filter(({ lostWorkerId }) => lostWorkerId !== null)).toEqual([])
    expect((await hostOf(host)).workers.map(({ name }) => name)).toEqual([`${host}-1`])
  })

  test('a live worker is taken over by nobody who does not give its state directory', async () => {
    const { host, all } = await workers({ stateDirectoryId: randomUUID() })
    const [worker] = all as [Reporter]
    const id = await running(all, 1)
    const name = `${host}-0`
    const { prisma } = database()
    const rowOf = () => prisma.worker.findUniqueOrThrow({ where: { id: worker.workerId } })
    const take = (stateDirectoryId: string, clean: boolean) =>
      store.committer.write({
        kind: 'registerWorker',
        ...registrationOf({ name, host, stateDirectoryId, clean, asAdmin: true, registrationNumber: 1_000 }),
      })
    const message = expect.stringContaining(
      `A worker named ${name} is registered already, with another state directory, on host ${host}`,
    )
    const refused = {
      kind: 'refused',
      refusal: { code: 'INVALID_INPUT', message, issues: [{ path: ['input', 'name'], message }] },
    }
    const before = await rowOf()
    for (const [stateDirectoryId, clean] of [
      ['', true],
      ['', false],
      [randomUUID(), true],
      [randomUUID(), false],
    ] as const)
      expect(await take(stateDirectoryId, clean)).toEqual(refused)
    expect(await rowOf()).toEqual(before)
    expect(await on(id, worker)).toMatchObject([{ state: 'RUNNING', ready: true }])
    expect(await hostOf(host)).toMatchObject({ workers: [{ id: worker.workerId }] })
  })

  test('one that offers less than it runs takes nothing more, and keeps nothing from the others', async () => {
    const { host, all } = await workers({ cpuMillis: 1_000 }, { cpuMillis: 10 })
    const [a, b] = all as [Reporter, Reporter]
    const id = await running([a], 10)
    await store.register({ name: `${host}-0`, host, cpuMillis: 300 })
    await store.register({ name: `${host}-1`, host, cpuMillis: 1_000 })
    const more = await store.create({ replicas: 10, content: small })
    expect(await store.place([more])).toBe(10)
    expect([(await on(id, a)).length, (await on(more, b)).length]).toEqual([10, 10])
  })

  test('another state directory may take the name of a lost one, whose ports stay held under another name until it is removed', async () => {
    const oldDirectory = randomUUID()
    const range = { portRange: { from: 20_000, to: 20_001 }, stateDirectoryId: oldDirectory }
    const { host, all } = await workers(range)
    const [old] = all as [Reporter]
    const id = await running(all, 2)
    await judge(old, 'UNREACHABLE')
    const taken = { ...range, name: `${host}-0`, host, stateDirectoryId: randomUUID(), clean: true }
    await expect(store.register(taken)).rejects.toThrow('not registered')
    await judge(old, 'LOST')
    // Also before the services are told: it is not the one that had their replicas.
    const next = await store.register(taken)
    expect(next.workerId).not.toBe(old.workerId)
    await tellServices({ database: database(), committer: store.committer }, [old.hostId])
    expect((await rowsOf(id)).map(({ state }) => state)).toEqual(['PENDING', 'PENDING'])
    expect(await store.place([id])).toBe(0)
    const [aside] = (await hostOf(host)).workers.filter((worker) => worker.id === old.workerId)
    expect(aside).toMatchObject({ reachability: 'LOST', name: expect.stringMatching(`^${host}-0\\.lost-[0-9a-f]{8}$`) })
    await store.committer.write({ kind: 'removeWorker', name: aside?.name ?? '', actor: 'alice' })
    expect(await store.place([id])).toBe(2)
  })

  test.each(['here', 'elsewhere'])(
    'another state directory takes the name of a lost one that nothing is kept for, %s: that one is forgotten',
    async (where) => {
      const oldDirectory = randomUUID()
      const { host, all } = await workers({ stateDirectoryId: oldDirectory })
      const [old] = all as [Reporter]
      for (const to of ['UNREACHABLE', 'LOST'] as const) await judge(old, to)
      const next = await store.register({
        name: `${host}-0`,
        host: where === 'here' ? host : `${host}-b`,
        stateDirectoryId: randomUUID(),
        clean: true,
      })
      expect(next.workerId).not.toBe(old.workerId)
      expect(
        await database().prisma.worker.findMany({
          where: { name: { startsWith: host } },
          select: { id: true, name: true },
        }),
      ).toEqual([{ id: next.workerId, name: `${host}-0` }])
    },
  )

  test('a lost one does not go to another host before its services are told', async () => {
    const one = randomUUID()
    const { host, all } = await workers({ stateDirectoryId: one })
    const [a] = all as [Reporter]
    const id = await running(all, 2)
    await judge(a, 'UNREACHABLE')
    await judge(a, 'LOST')
    const elsewhere = { name: `${host}-0`, host: `${host}-b`, stateDirectoryId: one, clean: true }
    await expect(store.register(elsewhere)).rejects.toThrow('not registered')
    await tellServices({ database: database(), committer: store.committer }, [a.hostId])
    expect(await store.register(elsewhere)).toMatchObject({ workerId: a.workerId })
    expect((await rowsOf(id)).map(({ state }) => state)).toEqual(['PENDING', 'PENDING'])
    expect(await hostOf(host)).toMatchObject({ reachability: 'LOST', workers: [] })
  })

  test('a worker is its token’s, also by its state directory', async () => {
    const one = randomUUID()
    const { host } = await workers({ stateDirectoryId: one, subject: 'mine' })
    const other = { name: `${host}-other`, host, stateDirectoryId: one, subject: 'theirs' }
    await expect(store.register(other)).rejects.toThrow('not registered')
    expect(await store.register({ ...other, asAdmin: true })).toMatchObject({ epoch: 2 })
  })

  test('what one that has to be clean first says of the host does not count while others are there', async () => {
    const { host, all } = await workers({ addresses: ['10.0.0.1'] }, { addresses: ['10.0.0.1'] })
    const [, b] = all as [Reporter, Reporter]
    for (const to of ['UNREACHABLE', 'LOST'] as const) await judge(b, to)
    await running(all, 1)
    const said = { name: `${host}-1`, host, addresses: ['10.0.0.9'], portRange: { from: 1, to: 2 } }
    await store.register({ ...said, clean: false })
    expect(await hostOf(host)).toMatchObject({ addresses: ['10.0.0.1'], portFrom: 20_000 })
    await store.register({ ...said, clean: true })
    expect(await hostOf(host)).toMatchObject({ addresses: ['10.0.0.9'], portFrom: 1 })
  })

  test('one that was forgotten comes back only clean, like any lost one', async () => {
    const one = randomUUID()
    const { host, all } = await workers({ stateDirectoryId: one }, {})
    const [a] = all as [Reporter, Reporter]
    for (const to of ['UNREACHABLE', 'LOST'] as const) await judge(a, to)
    await store.register({ name: `${host}-1`, host })
    expect((await hostOf(host)).workers.map(({ name }) => name)).toEqual([`${host}-1`])
    const back = { name: `${host}-0`, host, stateDirectoryId: one }
    const unclean = await store.register({ ...back, clean: false })
    expect((await hostOf(host)).workers[0]).toMatchObject({ name: `${host}-0`, reachability: 'LOST' })
    await store.committer.write({ kind: 'returnWorker', ...unclean })
    expect((await hostOf(host)).workers[0]).toMatchObject({ reachability: 'REACHABLE' })
  })

  test('what is on a worker that nobody knows any more is lost', async () => {
    const { all } = await workers({}, {})
    const [a] = all as [Reporter]
    const id = await running(all, 2)
    await database().prisma.worker.delete({ where: { id: a.workerId } })
    await tellServices({ database: database(), committer: store.committer }, [a.hostId])
    expect((await rowsOf(id)).map(({ state }) => state).sort()).toEqual(['PENDING', 'RUNNING'])
    expect(await database().prisma.hostPort.count({ where: { lostWorkerId: a.workerId } })).toBe(0)
  })
})
