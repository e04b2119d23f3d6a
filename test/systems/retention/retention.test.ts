import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Tail } from '../../../src/feed/tail.ts'
import type { CommittedFact } from '../../../src/model/fact.ts'
import type { Retention } from '../../../src/model/retention.ts'
import type { Database } from '../../../src/store/database/database.ts'
import { readFacts } from '../../../src/store/read/readFacts.ts'
import { RetentionRunner } from '../../../src/systems/retention/retention.ts'
import type { StartTimeout } from '../../../src/systems/timers/timeout.ts'
import { Churn } from '../../support/drivers/churn.ts'
import { TestStore } from '../../support/drivers/store.ts'
import { eachDatabase, silent } from '../../support/fixtures/databases.ts'
import { until } from '../../support/fixtures/until.ts'

const hour = 3_600_000

const nothing: Retention = {
  facts: { kept: 20, keptSeconds: 0, mostKept: 1_000_000 },
  events: { keptHours: 1, mostKept: 10 },
  endedReplicas: { keptHours: 1, mostKept: 3 },
  versionsKept: 2,
}

/** Alarms that ring when the test says so; pauses within a run are over at once. */
class Bell {
  ring: (() => void) | null = null
  millis: number | null = null

  readonly set: StartTimeout = (millis, ring) => {
    if (millis < 1_000) {
      const now = setImmediate(ring)
      return () => clearImmediate(now)
    }
    this.millis = millis
    this.ring = ring
    return () => {
      if (this.ring === ring) this.ring = null
    }
  }
}

eachDatabase((database) => {
  let store: TestStore
  let tail: Tail
  let bell: Bell
  let runner: RetentionRunner

  const start = async (retention: Retention = nothing) => {
    bell = new Bell()
    runner = new RetentionRunner({ database: database(), tail, retention, log: silent, startTimeout: bell.set })
    runner.start()
  }
  /** One run, to its end: the next alarm is set then. */
  const run = async () => {
    const ring = bell.ring
    bell.ring = null
    ring?.()
    await until(() => bell.ring !== null, 'the run ends')
  }

  beforeEach(async () => {
    store = await TestStore.on(database())
    tail = new Tail({ database: database(), committer: store.committer, log: silent })
    await tail.start()
  })
  afterEach(async () => {
    await runner.stop()
    await tail.stop()
    await store.committer.stop()
  })

  test('facts, events and ended replicas are trimmed to what is kept; what lives stays, and the log stays whole', async () => {
    const seen: CommittedFact[] = []
    const unsubscribe = tail.subscribe((facts) => seen.push(...facts))
    const churn = await Churn.on(store, 3, 4)
    for (let round = 0; round < 3; round++) await churn.round()
    await start()
    const before = await Promise.all(churn.services.map((id) => store.load(id)))
    await Promise.all([run(), churn.round()])
    await run()
    unsubscribe()

    const { head, floor } = await readFacts(database(), null, 0)
    expect(head - floor).toBe(20n)
    const { facts } = await readFacts(database(), floor, 1_000)
    expect(facts.map(({ revision }) => revision)).toEqual(
      Array.from({ length: 20 }, (_, index) => floor + 1n + BigInt(index)),
    )
    expect(await rows(database(), 'Fact')).toBe(20)
    expect(await rows(database(), 'Event')).toBe(10)
    expect(await database().prisma.replica.count({ where: { state: 'ENDED' } })).toBe(3)
    expect(await database().prisma.replica.count({ where: { NOT: { state: 'ENDED' } } })).toBe(12)
    for (const [index, id] of churn.services.entries()) {
      const after = await store.load(id)
      expect(after.replicas.size).toBe(before[index]?.replicas.size)
      expect(after.guard).toBeGreaterThan(before[index]?.guard ?? Number.NaN)
    }
    // The tail read through it all: every fact once.
    await until(() => seen.at(-1)?.revision === head, 'the tail has read everything')
    expect(seen.map(({ revision }) => revision)).toEqual(
      seen.map((_, index) => (seen[0]?.revision ?? 0n) + BigInt(index)),
    )
  })

  test('what is young stays, whatever came after it', async () => {
    const churn = await Churn.on(store, 1, 2)
    await churn.round()
    const count = async () => [
      await rows(database(), 'Event'),
      await rows(database(), 'Replica'),
      await rows(database(), 'Fact'),
    ]
    const before = await count()
    await start({
      facts: { kept: 1, keptSeconds: 3_600, mostKept: 1_000_000 },
      events: { keptHours: 1, mostKept: 1_000 },
      endedReplicas: { keptHours: 1, mostKept: 1_000 },
      versionsKept: 2,
    })
    await run()
    expect(await count()).toEqual(before)
  })

  test('an ended replica whose ports are still held stays; a gone service goes whole, with the last of its replicas', async () => {
    const gone = await store.create({ replicas: 2 })
    const stays = await store.create({ replicas: 1 })
    await store.committer.submit(gone, { kind: 'delete', expectedRevision: null, actor: 'test' })
    expect((await store.load(gone)).columns.deletedAt).not.toBeNull()
    const [held] = await database().prisma.replica.findMany({ where: { serviceId: gone }, orderBy: { id: 'asc' } })
    const { hostId } = await store.register()
    await database().prisma.hostPort.create({
      data: { hostId, port: 31_999, protocol: 'TCP', replicaId: held?.id ?? '' },
    })
    const old = new Date(Date.now() - 2 * hour)
    await database().prisma.service.update({ where: { id: gone }, data: { deletedAt: old } })
    await database().prisma.replica.updateMany({ where: { serviceId: gone }, data: { endedAt: old } })

    await start({ ...nothing, endedReplicas: { keptHours: 1, mostKept: 1_000 } })
    await run()
    expect(await database().prisma.replica.findMany({ where: { serviceId: gone }, select: { id: true } })).toEqual([
      { id: held?.id },
    ])
    expect(await database().prisma.service.count({ where: { id: gone } })).toBe(1)

    await database().prisma.hostPort.deleteMany({ where: { port: 31_999 } })
    await run()
    for (const count of [
      database().prisma.replica.count({ where: { serviceId: gone } }),
      database().prisma.rollout.count({ where: { serviceId: gone } }),
      database().prisma.serviceVersion.count({ where: { serviceId: gone } }),
      database().prisma.service.count({ where: { id: gone } }),
    ]) {
      expect(await count).toBe(0)
    }
    expect((await store.load(stays)).replicas.size).toBe(1)
  })

  test('keys go after 24 hours and batches after one; younger ones stay', async () => {
    await store.create()
    await rowsOfAges(database(), [0.5, 1.5, 23, 25])
    await start()
    await run()
    const keys = await database().prisma.idempotencyKey.findMany({
      where: { subject: 'retention' },
      orderBy: { key: 'asc' },
    })
    expect(keys.map(({ key }) => key)).toEqual(['0.5', '1.5', '23'])
    const batches = await database().prisma.batch.findMany({ where: { id: { startsWith: 'retention' } } })
    expect(batches.map(({ id }) => id)).toEqual(['retention 0.5'])
  })

  test('old versions and rollouts go, but not what runs, what a replica runs, what a rollback leads to, and what a kept rollout names', async () => {
    const id = await store.create({ replicas: 2 })
    await history(database(), id, 8)
    await database().prisma.service.update({ where: { id }, data: { completedVersion: 8, previousVersion: 4 } })
    await database().prisma.replica.updateMany({ where: { serviceId: id, index: 1 }, data: { versionNumber: 3 } })
    await start()
    await run()
    const numbers = async (table: 'ServiceVersion' | 'Rollout') => {
      const found = await database().prisma.$queryRawUnsafe<{ number: number }[]>(
        `SELECT "number" FROM "${table}" WHERE "serviceId" = $1 ORDER BY "number"`,
        id,
      )
      return found.map(({ number }) => number)
    }
    expect(await numbers('Rollout')).toEqual([7, 8])
    // Rollout 7 leads from 6 to 7; a replica runs 3, the other one 1.
    expect(await numbers('ServiceVersion')).toEqual([1, 3, 4, 6, 7, 8])
  })

  test('more rows than one statement deletes, by two servers at once, each row once and nothing else', async () => {
    await store.create()
    await database().prisma.$executeRaw`INSERT INTO "Batch" ("id", "result", "at")
      SELECT 'many ' || n, '{}', clock_timestamp() - interval '2 hours' FROM generate_series(1, 3500) n`
    await start()
    const other = new Bell()
    const second = new RetentionRunner({
      database: database(),
      tail,
      retention: nothing,
      log: silent,
      startTimeout: other.set,
    })
    second.start()
    const ring = other.ring
    other.ring = null
    ring?.()
    await Promise.all([run(), until(() => other.ring !== null, 'the second run ends')])
    await second.stop()
    expect(await database().prisma.batch.count({ where: { id: { startsWith: 'many' } } })).toBe(0)
  })

  describe('when it runs', () => {
    test('after an hour, or soon after 5,000 facts of any server; stopped it waits for nothing', async () => {
      let tell: (facts: readonly CommittedFact[]) => void = () => undefined
      let told = true
      const facts = (count: number) => Array.from({ length: count }) as CommittedFact[]
      bell = new Bell()
      runner = new RetentionRunner({
        database: database(),
        tail: {
          subscribe: (listener) => {
            tell = listener
            return () => {
              told = false
            }
          },
        },
        retention: nothing,
        log: silent,
        startTimeout: bell.set,
      })
      runner.start()
      // Whoever is started again and again trims all the same.
      expect(bell.millis).toBe(10_000)
      await run()
      expect(bell.millis).toBe(hour)
      tell(facts(4_999))
      expect(bell.millis).toBe(hour)
      tell(facts(1))
      expect(bell.millis).toBe(1_000)
      await run()
      expect(bell.millis).toBe(hour)
      tell(facts(5_000))
      const ring = bell.ring
      bell.ring = null
      ring?.()
      tell(facts(6_000))
      await until(() => bell.ring !== null, 'the run ends')
      expect(bell.millis).toBe(1_000)
      await runner.stop()
      expect(bell.ring).toBeNull()
      expect(told).toBe(false)
    })
  })
})

async function rows({ prisma }: Database, table: string): Promise<number> {
  const [row] = await prisma.$queryRawUnsafe<{ count: number }[]>(`SELECT count(*)::int AS count FROM "${table}"`)
  return row?.count ?? Number.NaN
}

async function rowsOfAges({ prisma }: Database, hours: readonly number[]): Promise<void> {
  for (const age of hours) {
    const at = new Date(Date.now() - age * hour)
    await prisma.batch.create({ data: { id: `retention ${age}`, result: {}, at } })
    await prisma.idempotencyKey.create({
      data: { subject: 'retention', operation: 'x', key: String(age), inputHash: '', result: {}, at },
    })
  }
}

/** Versions and completed rollouts up to `last`, each from the one before. */
async function history({ prisma }: Database, serviceId: string, last: number): Promise<void> {
  await prisma.$executeRaw`INSERT INTO "ServiceVersion"
    SELECT (jsonb_populate_record(v, jsonb_build_object('id', v."id" || n, 'number', n, 'contentNumber', n))).*
    FROM "ServiceVersion" v, generate_series(2, ${last}::int) n WHERE v."serviceId" = ${serviceId} AND v."number" = 1`
  await prisma.$executeRaw`UPDATE "Rollout" SET "finishedAt" = now(), "state" = 'COMPLETED' WHERE "serviceId" = ${serviceId}`
  await prisma.$executeRaw`INSERT INTO "Rollout"
    SELECT (jsonb_populate_record(o, jsonb_build_object('id', o."id" || n, 'number', n, 'fromVersion', n - 1, 'toVersion', n))).*
    FROM "Rollout" o, generate_series(2, ${last}::int) n WHERE o."serviceId" = ${serviceId} AND o."number" = 1`
  await prisma.$executeRaw`UPDATE "Service" SET "versionNumber" = ${last}::int, "rolloutNumber" = ${last}::int, "guard" = "guard" + 1
    WHERE "id" = ${serviceId}`
}
