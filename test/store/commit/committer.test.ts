import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { ServiceId } from '../../../src/model/id.ts'
import { readFacts } from '../../../src/store/read/readFacts.ts'
import { TestStore } from '../../support/drivers/store.ts'
import { eachDatabase } from '../../support/fixtures/databases.ts'

eachDatabase((database) => {
  let store: TestStore
  beforeAll(async () => {
    store = await TestStore.on(database())
  })

  const done = { kind: 'done', changed: true }

  test('a service that the cache loses while others are read is there all the same', async () => {
    const [kept, read] = [await store.create({ replicas: 1 }), await store.create({ replicas: 1 })]
    const { cache } = store.committer
    await store.scale(kept, 2)
    cache.drop(read)
    const set = cache.set.bind(cache)
    // As when a fact of another server comes in that moment, or when too much is cached.
    const spy = vi.spyOn(cache, 'set').mockImplementationOnce((snapshot) => {
      expect(snapshot.id).toBe(read)
      set(snapshot)
      cache.drop(kept)
      cache.drop(read)
    })
    expect(await Promise.all([store.scale(kept, 3), store.scale(read, 3)])).toEqual([done, done])
    spy.mockRestore()
  })

  describe('creation', () => {
    test('writes the service, its version, rollout and replicas', async () => {
      const id = await store.create({ replicas: 3 })
      const service = await database().prisma.service.findUniqueOrThrow({
        where: { id },
        include: { versions: true, rollouts: true, replicas: true },
      })
      expect(service).toMatchObject({ guard: 0, desiredReplicas: 3, activeReplicas: 3, heldName: service.name })
      expect(service.versions.map(({ number }) => number)).toEqual([1])
      expect(service.rollouts).toMatchObject([{ number: 1, fromVersion: null, toVersion: 1 }])
      expect(service.replicas.map(({ state, index }) => [state, index]).sort()).toEqual([
        ['PENDING', 0],
        ['PENDING', 1],
        ['PENDING', 2],
      ])
      const fact = await database().prisma.fact.findFirstOrThrow({
        where: { serviceId: id },
        orderBy: { revision: 'desc' },
      })
      expect(service.revision).toBe(fact.revision)
      expect(fact.kind).toBe('change')
    })

    test('refuses a name that its project has, also within one batch and between two servers', async () => {
      const other = await TestStore.on(database())
      const service = await store.newService()
      const again = () => ({ ...service, id: randomUUID() as ServiceId })
      const outcomes = await Promise.all([
        store.committer.create(service, 'a'),
        store.committer.create(again(), 'b'),
        other.committer.create(again(), 'c'),
        other.committer.create(again(), 'd'),
      ])
      expect(outcomes.filter(({ kind }) => kind === 'done')).toHaveLength(1)
      const refused = outcomes.filter((outcome) => outcome.kind === 'refused').map(({ refusal }) => refusal)
      expect(refused).toHaveLength(3)
      for (const refusal of refused) expect(refusal).toMatchObject({ code: 'NAME_TAKEN', path: ['input', 'name'] })
      await other.committer.stop()
    })

    test('a name is free again when the service is gone', async () => {
      const service = await store.newService({ replicas: 0 })
      expect(await store.committer.create(service, 'a')).toEqual(done)
      expect(await store.committer.submit(service.id, { kind: 'delete', expectedRevision: null, actor: 'a' })).toEqual(
        done,
      )
      expect(await store.committer.create({ ...service, id: randomUUID() as ServiceId }, 'a')).toEqual(done)
      expect(await store.scale(service.id, 1)).toMatchObject({ kind: 'refused', refusal: { code: 'NOT_FOUND' } })
    })
  })

  describe('grouping', () => {
    test('64 parallel scales of one service all answer, and the last one holds', async () => {
      const id = await store.create({ replicas: 0 })
      const outcomes = await Promise.all(Array.from({ length: 64 }, (_, index) => store.scale(id, index + 1)))
      expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true)
      const { columns, replicas } = await store.load(id)
      expect(columns.desiredReplicas).toBe(64)
      expect(replicas.size).toBe(64)
    })

    test('of 20 with the same expectedRevision one is done and 19 get CONFLICT with the current one', async () => {
      const id = await store.create({ replicas: 0 })
      const before = await store.load(id)
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, index) => store.scale(id, index + 1, before.specRevision)),
      )
      const after = await store.load(id)
      expect(outcomes.filter(({ kind }) => kind === 'done')).toHaveLength(1)
      const refusals = outcomes.flatMap((outcome) => (outcome.kind === 'refused' ? [outcome.refusal] : []))
      expect(refusals).toHaveLength(19)
      for (const refusal of refusals)
        expect(refusal).toMatchObject({ code: 'CONFLICT', specRevision: after.specRevision })
      expect(after.specRevision).toBeGreaterThan(before.specRevision)
    })

    test('more intents than one batch takes are all done, over many services', async () => {
      const ids = await Promise.all(Array.from({ length: 40 }, () => store.create({ replicas: 1 })))
      const outcomes = await Promise.all(
        Array.from({ length: 800 }, (_, index) => store.scale(ids[index % 40] as ServiceId, index % 7)),
      )
      expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true)
      for (const [index, id] of ids.entries())
        expect((await store.load(id)).columns.desiredReplicas).toBe((760 + index) % 7)
    })

    test('an unknown service is NOT_FOUND, and the rest of the batch is done', async () => {
      const id = await store.create()
      const [unknown, known] = await Promise.all([store.scale(randomUUID() as ServiceId, 1), store.scale(id, 5)])
      expect(unknown).toMatchObject({ kind: 'refused', refusal: { code: 'NOT_FOUND' } })
      expect(known).toEqual(done)
    })
  })

  test('a refusal is decided on the true state, even when this server knows an old one', async () => {
    const other = await TestStore.on(database())
    const id = await store.create({ replicas: 1 })
    const old = await store.load(id)
    expect(await other.scale(id, 2, old.specRevision)).toEqual(done)
    const now = await store.load(id)
    expect(await store.scale(id, 3, now.specRevision)).toEqual(done)
    expect(await other.scale(id, 4, now.specRevision)).toMatchObject({ kind: 'refused', refusal: { code: 'CONFLICT' } })
    await other.committer.stop()
  })

  describe('two servers on the same services', () => {
    test('lose no update and leave no gap, and revisions are in commit order', async () => {
      const other = await TestStore.on(database())
      const ids = await Promise.all(Array.from({ length: 4 }, () => store.create({ replicas: 0 })))
      const from = (await readFacts(database(), null, 0)).head
      // Each intent kills one replica: what is lost would be seen in the number of ended ones.
      await Promise.all(ids.map((id) => store.scale(id, 12)))
      const kills = await Promise.all(
        ids.flatMap(async (id) => {
          const victims = [...(await store.load(id)).replicas.keys()]
          return Promise.all(
            victims.map((replica, index) => {
              const { committer } = index % 2 === 0 ? store : other
              return committer.submit(id, { kind: 'kill', replica, actor: 'test' })
            }),
          )
        }),
      )
      expect(kills.flat().every((outcome) => outcome.kind === 'done' && outcome.changed)).toBe(true)
      for (const id of ids) {
        const rows = await database().prisma.replica.findMany({ where: { serviceId: id } })
        expect(rows.filter(({ state }) => state === 'ENDED')).toHaveLength(12)
        expect(rows.filter(({ state }) => state !== 'ENDED')).toHaveLength(12)
      }
      const { facts } = await readFacts(database(), from, 10_000)
      expect(facts.map(({ revision }) => revision)).toEqual(facts.map((_, index) => from + 1n + BigInt(index)))
      for (const id of ids) {
        const changes = facts.filter(({ serviceId, kind }) => serviceId === id && kind === 'change')
        expect((await store.load(id)).revision).toBe(changes.at(-1)?.revision)
      }
      await other.committer.stop()
    })
  })

  describe('idempotency keys', () => {
    const remember = (key: string, inputHash = 'h') => ({
      subject: 's',
      operation: 'scaleService',
      key,
      inputHash,
      result: { id: key },
    })
    const scale = (to: TestStore, id: ServiceId, replicas: number, key: string, hash?: string) =>
      to.committer.submit(id, { kind: 'scale', replicas, expectedRevision: null, actor: 'x' }, remember(key, hash))

    test('the same input is done once; another input is a mismatch', async () => {
      const id = await store.create({ replicas: 0 })
      expect(await scale(store, id, 3, 'one')).toEqual(done)
      await store.scale(id, 1)
      expect(await scale(store, id, 3, 'one')).toEqual({ kind: 'remembered', result: { id: 'one' } })
      const message =
        'The idempotencyKey "one" was used for scaleService with another input: repeat that input, or take a new key.'
      expect(await scale(store, id, 4, 'one', 'other')).toMatchObject({
        refusal: { code: 'IDEMPOTENCY_MISMATCH', message },
      })
      expect((await store.load(id)).columns.desiredReplicas).toBe(1)
    })

    test('what was done without a change is remembered too, what was refused is not', async () => {
      const id = await store.create({ replicas: 2 })
      const { specRevision } = await store.load(id)
      expect(await scale(store, id, 2, 'same')).toEqual({ kind: 'done', changed: false })
      expect(await scale(store, id, 2, 'same')).toMatchObject({ kind: 'remembered' })
      const conflict = () =>
        store.committer.submit(
          id,
          { kind: 'scale', replicas: 9, expectedRevision: specRevision - 1n, actor: 'x' },
          remember('refused'),
        )
      expect(await conflict()).toMatchObject({ refusal: { code: 'CONFLICT' } })
      expect(await conflict()).toMatchObject({ refusal: { code: 'CONFLICT' } })
    })

    test('a key is known for 24 hours', async () => {
      const id = await store.create({ replicas: 0 })
      const aged = (hours: number) =>
        database().prisma
          .$executeRaw`UPDATE "IdempotencyKey" SET "at" = clock_timestamp() - make_interval(mins => ${hours * 60 - 1}) WHERE "key" = 'aged'`
      expect(await scale(store, id, 3, 'aged')).toEqual(done)
      await aged(24)
      expect(await scale(store, id, 3, 'aged')).toMatchObject({ kind: 'remembered' })
      await aged(25)
      expect(await scale(store, id, 4, 'aged', 'other')).toEqual(done)
      expect(await scale(store, id, 4, 'aged', 'other')).toMatchObject({ kind: 'remembered' })
    })

    test('through two servers and in one batch at once: one effect', async () => {
      const other = await TestStore.on(database())
      const service = await store.newService({ replicas: 1 })
      const create = (to: TestStore) =>
        to.committer.create(
          { ...service, id: randomUUID() as ServiceId, name: `n${randomUUID().slice(0, 8)}` },
          'x',
          remember('create'),
        )
      const outcomes = await Promise.all([create(store), create(other), create(store), create(other)])
      expect(outcomes.filter(({ kind }) => kind === 'done')).toHaveLength(1)
      expect(outcomes.filter(({ kind }) => kind === 'remembered')).toHaveLength(3)
      await other.committer.stop()
    })
  })

  describe('grants and reports', () => {
    test('a grant takes host, ports and quota; the end gives them back', async () => {
      const worker = await store.register()
      const id = await store.create({ replicas: 2 })
      expect(await store.place([id])).toBe(2)
      const host = () =>
        database().prisma.host.findUniqueOrThrow({ where: { id: worker.hostId }, include: { hostPorts: true } })
      const project = () => database().prisma.project.findUniqueOrThrow({ where: { name: 'default' } })
      expect(await host()).toMatchObject({ usedCpuMillis: 200, usedMemoryMiB: 128, usedPorts: 2, allocation: 1 })
      expect((await host()).hostPorts).toHaveLength(2)
      expect((await project()).usedReplicas).toBe(2)
      await store.reportReady(id, worker, 1)
      expect((await store.load(id)).columns).toMatchObject({ readyReplicas: 2, runningReplicas: 2 })
      await store.scale(id, 0)
      const { replicas } = await store.load(id)
      const reports = [...replicas.values()].map((replica) => ({
        replica: replica.id,
        start: replica.start,
        state: 'ENDED' as const,
        ready: false,
        probe: null,
        endReason: 'STOPPED' as const,
        exitCode: 0,
        exitSignal: null,
        message: null,
        takenPorts: [],
        ports: replica.ports.map(({ port }) => port),
      }))
      await store.committer.submit(id, { kind: 'report', reporter: worker, sequence: 2, reports })
      expect(await host()).toMatchObject({
        usedCpuMillis: 0,
        usedMemoryMiB: 0,
        usedPorts: 0,
        allocation: 1,
        hostPorts: [],
      })
      expect((await project()).usedReplicas).toBe(0)
    })

    test('two placers never give one port or more than a host has; who loses changes nothing', async () => {
      const other = await TestStore.on(database())
      const worker = await store.register({ cpuMillis: 500 })
      const ids = await Promise.all(Array.from({ length: 10 }, () => store.create({ replicas: 1 })))
      for (let round = 0; round < 4; round++) await Promise.all([store.place(ids), other.place(ids)])
      const host = await database().prisma.host.findUniqueOrThrow({
        where: { id: worker.hostId },
        include: { replicas: true, hostPorts: true },
      })
      expect(host.usedCpuMillis).toBeLessThanOrEqual(500)
      expect(host.usedCpuMillis).toBe(host.replicas.filter(({ state }) => state !== 'ENDED').length * 100)
      expect(host.usedPorts).toBe(host.hostPorts.length)
      await Promise.all(
        ids.map((id) => store.committer.submit(id, { kind: 'delete', expectedRevision: null, actor: 'x' })),
      )
      await other.committer.stop()
    })

    test('quota: a project never holds more than it may', async () => {
      await store.register()
      await store.committer.write({ kind: 'applyProject', name: 'small', maxReplicas: 3, actor: 'x' })
      const ids = await Promise.all(
        Array.from({ length: 3 }, () => store.create({ projectName: 'small', replicas: 2 })),
      )
      await store.place(ids)
      await store.place(ids)
      const project = await database().prisma.project.findUniqueOrThrow({ where: { name: 'small' } })
      expect(project.usedReplicas).toBe(3)
      const held = await database().prisma.replica.count({ where: { serviceId: { in: ids }, holdsQuota: true } })
      expect(held).toBe(3)
    })

    test('a report of an old epoch is FENCED and changes nothing; others of its batch are taken', async () => {
      const name = `w${randomUUID().slice(0, 8)}`
      const worker = await store.register({ name })
      const id = await store.create({ replicas: 1 })
      await store.place([id])
      const next = await store.register({ name })
      expect(next.epoch).toBe(worker.epoch + 1)
      const [stale, scaled] = await Promise.all([
        store.reportReady(id, worker, 1),
        store.load(id).then(() => store.scale(id, 2)),
      ])
      expect(stale).toMatchObject({ kind: 'refused', refusal: { code: 'FENCED' } })
      expect(scaled).toEqual(done)
      expect((await store.load(id)).columns).toMatchObject({ readyReplicas: 0, desiredReplicas: 2 })
    })
  })

  describe('cluster writes', () => {
    test('a profile gets a new revision for new content only', async () => {
      const service = await store.newService()
      const { name } = await database().prisma.profile.findFirstOrThrow({
        where: { revisions: { some: { id: service.profileRevisionId } } },
      })
      const apply = (cpuMillis: number) =>
        store.committer.write({
          kind: 'applyProfile',
          allowDropping: false,
          name,
          content: { ...service.content, cpuMillis },
          settings: service.template.settings,
          actor: 'x',
        })
      expect(await apply(service.content.cpuMillis)).toMatchObject({
        created: false,
        profileRevisionId: service.profileRevisionId,
      })
      const outcomes = await Promise.all([apply(7), apply(7), apply(7)])
      expect(outcomes.filter((outcome) => outcome.kind === 'profile' && outcome.created)).toHaveLength(1)
      expect(await database().prisma.profile.findUniqueOrThrow({ where: { name } })).toMatchObject({
        currentRevision: 2,
      })
    })

    test('two servers that apply one new name make one', async () => {
      const other = await TestStore.on(database())
      const apply = (to: TestStore, priority: number) =>
        to.committer.write({ kind: 'applyQueue', name: 'race', priority, actor: 'x' })
      const outcomes = await Promise.all([apply(store, 1), apply(other, 2)])
      expect(outcomes.every(({ kind }) => kind === 'queue')).toBe(true)
      expect(await database().prisma.queue.findMany({ where: { name: 'race' } })).toHaveLength(1)
      await other.committer.stop()
    })

    test('a key of a cluster write remembers its outcome', async () => {
      const key = { subject: 's', operation: 'applyProject', key: 'k', inputHash: 'h', result: null }
      const change = { kind: 'applyProject', name: 'kept', maxReplicas: 5, actor: 'x' } as const
      const first = await store.committer.write(change, key)
      expect(first).toMatchObject({ kind: 'project', changed: true })
      expect(await store.committer.write(change, key)).toEqual({ kind: 'remembered', result: first })
      expect(await store.committer.write(change, { ...key, inputHash: 'other' })).toMatchObject({
        refusal: { code: 'IDEMPOTENCY_MISMATCH' },
      })
    })
  })
})
