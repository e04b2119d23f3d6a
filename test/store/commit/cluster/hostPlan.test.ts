import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import type { ServiceId } from '../../../../src/model/id.ts'
import type { Reporter } from '../../../../src/model/intent.ts'
import { place } from '../../../../src/rules/placement/placement.ts'
import { renewLease } from '../../../../src/store/access/lease.ts'
import { readPlacement } from '../../../../src/store/read/readPlacement.ts'
import { readUnsettled } from '../../../../src/store/read/readUnsettled.ts'
import { leasedStores } from '../../../support/drivers/leasedStores.ts'
import type { TestStore } from '../../../support/drivers/store.ts'
import { eachDatabase } from '../../../support/fixtures/databases.ts'

eachDatabase((database) => {
  let store: TestStore
  /** Another server on the same database. */
  let other: TestStore
  const { open, judge, tell, cordonAll } = leasedStores(database)
  beforeAll(async () => {
    ;({ store, other } = await open())
  })

  const host = (reporter: Reporter) =>
    database().prisma.host.findUniqueOrThrow({ where: { id: reporter.hostId }, include: { workers: true } })
  const schedule = async (reporter: Reporter, scheduling: 'OPEN' | 'CORDONED' | 'DRAINING') =>
    store.committer.write({ kind: 'scheduleHost', name: (await host(reporter)).name, scheduling, actor: 'alice' })
  const unsettled = async (reporter: Reporter) =>
    (await readUnsettled(database(), [reporter.hostId])).map(({ kind }) => kind)

  /** A service whose replicas are all on a host of its own, running and ready. */
  async function running(replicas = 2): Promise<{ id: ServiceId; reporter: Reporter }> {
    await cordonAll()
    const reporter = await store.register()
    const id = await store.create({ replicas })
    expect(await store.place([id])).toBe(replicas)
    await store.reportReady(id, reporter, 1)
    return { id, reporter }
  }
  const changed = { kind: 'done', changed: true }
  const unchanged = { kind: 'done', changed: false }

  test('what is told of a host is refused where the host is not so, by the lock on its row', async () => {
    const { id, reporter } = await running()
    for (const kind of ['unreach', 'lose', 'drain'] as const) expect(await tell(id, kind, reporter)).toEqual(unchanged)
    expect((await store.load(id)).columns).toMatchObject({ availableReplicas: 2 })
    expect(await unsettled(reporter)).toEqual([])

    expect(await judge(reporter, 'UNREACHABLE')).toMatchObject({ kind: 'host', changed: true })
    expect(await unsettled(reporter)).toEqual(['unreach'])
    expect(await tell(id, 'lose', reporter)).toEqual(unchanged)
    expect(await tell(id, 'unreach', reporter)).toEqual(changed)
    expect(await tell(id, 'unreach', reporter, other)).toEqual(unchanged)
    expect((await store.load(id)).columns).toMatchObject({ readyReplicas: 0, activeReplicas: 2 })
    expect(await unsettled(reporter)).toEqual([])
  })

  test('a full report is refused while the host is silent; a plain one is taken', async () => {
    const { id, reporter } = await running()
    await judge(reporter, 'UNREACHABLE')
    await tell(id, 'unreach', reporter)
    expect(
      await store.committer.submit(id, { kind: 'report', reporter, sequence: 2, reports: [], full: true }),
    ).toMatchObject({
      kind: 'refused',
      refusal: { code: 'INVALID_STATE' },
    })
    expect(await store.reportReady(id, reporter, 2)).toEqual(changed)
    expect((await store.load(id)).columns.readyReplicas).toBe(0)
  })

  test('a return is taken beside what is late: a word of silence, a grant of before', async () => {
    const { id, reporter } = await running()
    await judge(reporter, 'UNREACHABLE')
    await tell(id, 'unreach', reporter)
    await store.scale(id, 3)
    const { waiting, hosts, projects } = await readPlacement(database())
    const { name, addresses } = await host(reporter)
    const again = await store.register({ name: name.slice('h-'.length) })
    const open = hosts.map((view) => ({
      ...view,
      workers: view.workers.map((worker) => ({ ...worker, reachability: 'REACHABLE' as const })),
    }))
    const { grants } = place({
      waiting: waiting.filter(({ serviceId }) => serviceId === id),
      hosts: open,
      projects,
      now: store.clock.now(),
    })
    const adopted = {
      kind: 'adopt',
      reporter: again,
      host: { id: again.hostId, name, addresses },
      running: [],
    } as const
    const before = (await store.load(id)).columns
    const outcomes = await Promise.all([
      tell(id, 'unreach', reporter),
      store.committer.submit(id, { kind: 'grant', grants }),
      store.committer.submit(id, adopted),
    ])
    expect(outcomes.at(-1)).toEqual(changed)
    expect(before.activeReplicas).toBe(3)
    const { replicas } = await store.load(id)
    expect([...replicas.values()].filter(({ hostReachable }) => !hostReachable)).toEqual([])
  })

  test('a loss fences the worker, frees quota, ports and room, and is told once, whoever tells it', async () => {
    const { id, reporter } = await running()
    await judge(reporter, 'UNREACHABLE')
    expect(await judge(reporter, 'LOST')).toMatchObject({ changed: true })
    const lost = await host(reporter)
    expect(lost).toMatchObject({
      reachability: 'LOST',
      reason: 'it is LOST',
      workers: [{ epoch: reporter.epoch + 1, reachability: 'LOST' }],
    })
    expect(await store.reportReady(id, reporter, 3)).toMatchObject({ refusal: { code: 'FENCED' } })
    expect(await renewLease(database(), reporter.workerId, reporter.epoch, 15)).toBeNull()
    expect(await Promise.all([tell(id, 'lose', reporter), tell(id, 'lose', reporter, other)])).toContainEqual(changed)
    const { replicas } = await store.load(id)
    expect([...replicas.values()].map(({ state, index }) => [state, index]).sort()).toEqual([
      ['PENDING', 0],
      ['PENDING', 1],
    ])
    expect(await host(reporter)).toMatchObject({ usedCpuMillis: 0, usedMemoryMiB: 0, usedPorts: 0 })
    // Until the worker is back clean.
    expect(
      await database().prisma.hostPort.count({ where: { lostWorkerId: reporter.workerId, replicaId: null } }),
    ).toBe(2)
    // Nothing is placed there.
    expect(await store.place([id])).toBe(0)
  })

  test('a grant that was decided before the host fell silent is refused', async () => {
    const { reporter } = await running(0)
    const id = await store.create({ replicas: 1 })
    const { hosts, waiting } = await readPlacement(database())
    const { grants } = place({
      waiting: waiting.filter(({ serviceId }) => serviceId === id),
      hosts,
      projects: [],
      now: store.clock.now(),
    })
    expect(grants.map(({ hostId }) => hostId)).toEqual([reporter.hostId])
    await judge(reporter, 'UNREACHABLE')
    expect(await store.committer.submit(id, { kind: 'grant', grants })).toEqual(unchanged)
  })

  test.each([
    ['the lease was renewed meanwhile', { leaseUntil: 1 }],
    ['the server that judges is not heard of', { serverId: randomUUID() }],
    ['the server’s own heartbeat is late', { heartbeatSeconds: -1 }],
  ])('nobody is silent where %s', async (_what, over) => {
    const { reporter } = await running(0)
    expect(await judge(reporter, 'UNREACHABLE', over)).toMatchObject({ kind: 'host', changed: false })
    expect((await host(reporter)).reachability).toBe('REACHABLE')
  })

  test('a renewal tells a silent worker to report everything; two servers judge at once, once', async () => {
    const { reporter } = await running(0)
    expect(await renewLease(database(), reporter.workerId, reporter.epoch, 15)).toMatchObject({ resync: false })
    const heads = await Promise.all([judge(reporter, 'UNREACHABLE'), judge(reporter, 'UNREACHABLE', {}, other)])
    expect(heads.filter((outcome) => outcome.kind === 'host' && outcome.changed)).toHaveLength(1)
    expect(await renewLease(database(), reporter.workerId, reporter.epoch, 15)).toMatchObject({ resync: true })
    const back = { kind: 'returnWorker', ...reporter } as const
    expect(await store.committer.write({ ...back, epoch: reporter.epoch - 1 })).toMatchObject({ changed: false })
    expect(await store.committer.write(back)).toMatchObject({ changed: true })
    expect(await store.committer.write(back)).toMatchObject({ changed: false })
    expect(await host(reporter)).toMatchObject({
      reachability: 'REACHABLE',
      reason: null,
      workers: [{ reachability: 'REACHABLE' }],
    })
  })

  test('a drain and its end; what a server left half told is found', async () => {
    const { id, reporter } = await running()
    await schedule(reporter, 'DRAINING')
    expect(await unsettled(reporter)).toEqual(['drain'])
    expect(await tell(id, 'undrain', reporter)).toEqual(unchanged)
    expect(await tell(id, 'drain', reporter)).toEqual(changed)
    expect(await unsettled(reporter)).toEqual([])
    await schedule(reporter, 'CORDONED')
    expect(await unsettled(reporter)).toEqual(['undrain'])
    // A server that was frozen for a while tells what was true then.
    expect(await tell(id, 'drain', reporter, other)).toEqual(unchanged)
    expect(await tell(id, 'undrain', reporter)).toEqual(changed)
    expect([...(await store.load(id)).replicas.values()].map(({ leaving }) => leaving)).toEqual([null, null])
  })

  test('a lost host comes back only clean, and begins anew when it was removed', async () => {
    const { reporter } = await running(0)
    const { name } = await host(reporter)
    const again = (clean: boolean) => store.register({ name: name.slice(2), host: name, clean })
    await judge(reporter, 'UNREACHABLE')
    await judge(reporter, 'LOST')
    await again(false)
    expect(await host(reporter)).toMatchObject({ reachability: 'LOST', workers: [{ reachability: 'LOST' }] })
    await again(true)
    expect(await host(reporter)).toMatchObject({ reachability: 'REACHABLE', reason: null })
    const removal = { kind: 'removeHost', name, actor: 'alice' } as const
    expect(await store.committer.write(removal)).toMatchObject({ refusal: { code: 'INVALID_STATE' } })
    await schedule(reporter, 'DRAINING')
    await judge(reporter, 'UNREACHABLE')
    expect(await store.committer.write(removal)).toMatchObject({ kind: 'host', changed: true })
    expect(await store.committer.write(removal)).toMatchObject({ refusal: { code: 'NOT_FOUND' } })
    // What it runs was replaced, whether or not anybody knows it still.
    await again(false)
    expect(await host(reporter)).toMatchObject({ reachability: 'LOST', scheduling: 'OPEN', removedAt: null })
    await again(true)
    expect(await host(reporter)).toMatchObject({
      reachability: 'REACHABLE',
      scheduling: 'OPEN',
      reason: null,
      removedAt: null,
    })
  })

  test('since when it is as it is moves with a change, of the host and of the worker, and with nothing else', async () => {
    const { reporter } = await running(0)
    const { name } = await host(reporter)
    const longAgo = new Date('2020-01-01T00:00:00Z')
    /** Which of the three have moved to now. Then all are set back, for the next look. */
    const moved = async () => {
      const { id, schedulingSince, reachabilitySince, workers } = await host(reporter)
      const all = {
        scheduling: schedulingSince,
        host: reachabilitySince,
        worker: workers[0]?.reachabilitySince ?? longAgo,
      }
      const news = Object.entries(all).filter(([, since]) => since.getTime() !== longAgo.getTime())
      for (const [, since] of news) expect(Math.abs(since.getTime() - store.clock.now())).toBeLessThan(60_000)
      await database().prisma.host.update({
        where: { id },
        data: { schedulingSince: longAgo, reachabilitySince: longAgo },
      })
      await database().prisma.worker.updateMany({ where: { hostId: id }, data: { reachabilitySince: longAgo } })
      return news.map(([what]) => what)
    }
    const again = (clean = true) => store.register({ name: name.slice(2), host: name, clean })
    expect(await moved()).toEqual(['scheduling', 'host', 'worker'])

    await schedule(reporter, 'CORDONED')
    expect(await moved()).toEqual(['scheduling'])
    expect(await schedule(reporter, 'CORDONED')).toMatchObject({ refusal: { code: 'NO_CHANGE' } })
    await again()
    await renewLease(database(), reporter.workerId, (await host(reporter)).workers[0]?.epoch ?? 0, 15)
    expect(await moved()).toEqual([])

    await judge(reporter, 'UNREACHABLE')
    expect(await moved()).toEqual(['host', 'worker'])
    // Kept from being LOST: another reason, and still the same silence.
    expect(await judge(reporter, 'HELD')).toMatchObject({ changed: true })
    expect(await judge(reporter, 'HELD')).toMatchObject({ changed: false })
    expect(await host(reporter)).toMatchObject({
      reachability: 'UNREACHABLE',
      reason: 'it is HELD',
      workers: [{ held: true }],
    })
    await schedule(reporter, 'DRAINING')
    expect(await moved()).toEqual(['scheduling'])
    const { epoch } = (await host(reporter)).workers[0] ?? { epoch: 0 }
    expect(await store.committer.write({ kind: 'returnWorker', ...reporter, epoch })).toMatchObject({ changed: true })
    expect(await host(reporter)).toMatchObject({ reachability: 'REACHABLE', workers: [{ held: false }] })
    expect(await moved()).toEqual(['host', 'worker'])

    await judge(reporter, 'UNREACHABLE')
    expect(await moved()).toEqual(['host', 'worker'])
    await judge(reporter, 'LOST')
    expect(await moved()).toEqual(['host', 'worker'])
    await again(false)
    expect(await moved()).toEqual([])
    await again()
    expect(await moved()).toEqual(['host', 'worker'])

    // Removed while it is DRAINING, it begins anew: OPEN.
    await judge(reporter, 'UNREACHABLE')
    expect(await store.committer.write({ kind: 'removeHost', name, actor: 'alice' })).toMatchObject({ changed: true })
    await moved()
    await again()
    expect(await host(reporter)).toMatchObject({ scheduling: 'OPEN', reachability: 'REACHABLE' })
    expect(await moved()).toEqual(['scheduling', 'host', 'worker'])
  })
})
