import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceId } from '../../../src/model/id.ts'
import type { ReplicaReport, Reporter } from '../../../src/model/intent.ts'
import type { Replica } from '../../../src/model/service.ts'
import { portKey } from '../../../src/rules/placement/portHolders.ts'
import { readPortHolders } from '../../../src/store/read/readPortHolders.ts'
import { TestStore } from '../../support/drivers/store.ts'
import { eachDatabase } from '../../support/fixtures/databases.ts'
import { content, reportOf, settings } from '../../support/fixtures/services.ts'

// R13 as the database keeps it: a fixed port on one host.
eachDatabase((database) => {
  let store: TestStore
  let reporter: Reporter
  let id: ServiceId
  let sequence = 0

  /** The one on the host, or else the one that waits. */
  const row = async (): Promise<Replica> => {
    const rows = [...(await store.load(id)).replicas.values()]
    const found = rows.find(({ hostId }) => hostId !== null) ?? rows[0]
    if (found === undefined) throw new Error('no replica')
    return found
  }
  const report = async (over: Partial<ReplicaReport>) =>
    store.committer.submit(id, {
      kind: 'report',
      reporter,
      sequence: ++sequence,
      reports: [reportOf(await row(), over)],
    })
  const ports = () => database().prisma.hostPort.findMany()
  /** Lets the quarantine be over, as the time does. */
  const passQuarantine = () => database().prisma.hostPort.updateMany({ data: { quarantinedUntil: new Date(1_000) } })
  /** From the commit that began it to its end. */
  const quarantineSeconds = async () => {
    const [found] = await database().prisma.$queryRaw<{ seconds: number }[]>`
      SELECT extract(epoch FROM p."quarantinedUntil" - (SELECT f."at" FROM "Fact" f ORDER BY f."revision" DESC LIMIT 1))::float8 AS seconds FROM "HostPort" p`
    return Math.round(found?.seconds ?? Number.NaN)
  }

  beforeAll(async () => {
    store = await TestStore.on(database())
    reporter = await store.register()
    const fixed = content({ ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] })
    id = await store.create({
      replicas: 1,
      content: fixed,
      settings: settings({ backoffBaseSeconds: 0, backoffMaxSeconds: 0 }),
    })
  })
  afterAll(() => store.committer.stop())

  describe('a port that can’t be bound', () => {
    test.each([60, 120, 240])('is in quarantine for %s s, twice as long each time', async (seconds) => {
      expect(await store.place([id])).toBe(1)
      await report({ state: 'ENDED', ready: false, endReason: 'PORT_TAKEN' })
      expect(await quarantineSeconds()).toBe(seconds)
      expect(await ports()).toMatchObject([{ port: 8080, replicaId: null, watched: true }])
      expect(await store.place([id])).toBe(0)
      await passQuarantine()
    })

    test('for an hour at most', async () => {
      await database().prisma.hostPort.updateMany({ data: { conflicts: 6 } })
      expect(await store.place([id])).toBe(1)
      await report({ state: 'ENDED', ready: false, endReason: 'PORT_TAKEN' })
      expect(await quarantineSeconds()).toBe(3_600)
    })

    test('is given to nobody meanwhile, also by a placer that does not know of it', async () => {
      const { id: replicaId } = await row()
      const host = await database().prisma.host.findUniqueOrThrow({ where: { id: reporter.hostId } })
      const place = {
        hostId: reporter.hostId,
        hostName: host.name,
        hostAddresses: host.addresses,
        workerId: reporter.workerId,
        allocation: host.allocation,
      }
      const grant = {
        replicaId,
        ...place,
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' as const }],
        lastPort: 0,
        busyRange: null,
      }
      expect(await store.committer.submit(id, { kind: 'grant', grants: [grant] })).toEqual({
        kind: 'done',
        changed: false,
      })
      expect(await row()).toMatchObject({ state: 'PENDING', hostId: null })
      expect(await ports()).toMatchObject([{ replicaId: null }])
    })
  })

  test('a port in quarantine is given at once when its worker has seen it free; one that is held is not', async () => {
    await passQuarantine()
    const free = (...numbers: number[]) =>
      store.committer.write({
        kind: 'endQuarantine',
        hostId: reporter.hostId,
        ports: numbers.map((port) => ({ port, protocol: 'TCP' })),
        actor: 'test',
      })
    expect(await store.place([id])).toBe(1)
    expect(await free(8080)).toMatchObject({ changed: false })
    await report({ state: 'ENDED', ready: false, endReason: 'PORT_TAKEN' })
    expect(await store.place([id])).toBe(0)
    expect(await free(8080, 8081)).toMatchObject({ changed: true })
    const { message } = await database().prisma.event.findFirstOrThrow({ orderBy: { revision: 'desc' } })
    expect(message).toMatch(/^Port 8080 of host .* is not used by another program any more: its quarantine is over\.$/)
    expect(await ports()).toEqual([])
    expect(await store.place([id])).toBe(1)
    await report({ state: 'ENDED', ready: false, endReason: 'PORT_TAKEN' })
    await database().prisma.hostPort.updateMany({ data: { conflicts: 7 } })
  })

  test('who holds a port is read with its service, and how long a stop takes', async () => {
    const { id: hostId, name } = await database().prisma.host.findUniqueOrThrow({ where: { id: reporter.hostId } })
    const port = { hostId: hostId as typeof reporter.hostId, hostName: name, port: 8080, protocol: 'TCP' as const }
    const holder = async () => (await readPortHolders(database(), [{ ...port, holder: null }])).get(portKey(port))
    expect(await holder()).toBeUndefined()
    await passQuarantine()
    expect(await store.place([id])).toBe(1)
    const held = { kind: 'replica', project: 'default', service: expect.any(String), index: 0 }
    expect(await holder()).toEqual({ ...held, stop: null })
    await report({})
    await store.committer.submit(id, { kind: 'kill', replica: (await row()).id, actor: 'test' })
    const { stoppingAt } = await row()
    expect(await holder()).toEqual({
      ...held,
      stop: { seconds: 13, goneAt: (stoppingAt ?? 0) + 13_000, isReachable: true },
    })
    await report({ state: 'ENDED', ready: false, endReason: 'STOPPED' })
    expect(await store.place([id])).toBe(1)
    await report({ state: 'ENDED', ready: false, endReason: 'PORT_TAKEN' })
    await database().prisma.hostPort.updateMany({ data: { conflicts: 7 } })
  })

  test('a port is held until the end is confirmed; then its bind failures are forgotten', async () => {
    await passQuarantine()
    expect(await store.place([id])).toBe(1)
    await report({})
    const { id: replica } = await row()
    await store.committer.submit(id, { kind: 'kill', replica, actor: 'test' })
    expect(await ports()).toMatchObject([{ replicaId: replica, conflicts: 7 }])
    expect(await store.place([id])).toBe(0)
    await report({ state: 'ENDED', ready: false, endReason: 'STOPPED' })
    expect(await ports()).toEqual([])
    expect(await store.place([id])).toBe(1)
    expect(await ports()).toMatchObject([{ replicaId: (await row()).id, conflicts: 0, quarantinedUntil: null }])
  })
})
