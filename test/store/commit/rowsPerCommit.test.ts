import { beforeAll, expect, test } from 'vitest'
import { rowsPerCommit } from '../../../src/model/bounds.ts'
import type { ServiceFactData } from '../../../src/model/fact.ts'
import type { ServiceId } from '../../../src/model/id.ts'
import type { ReplicaReport, Reporter } from '../../../src/model/intent.ts'
import { TestStore } from '../../support/drivers/store.ts'
import { eachDatabase } from '../../support/fixtures/databases.ts'
import { reportOf } from '../../support/fixtures/services.ts'

eachDatabase((database) => {
  let store: TestStore
  beforeAll(async () => {
    store = await TestStore.on(database())
  })

  const replicas = 700
  const changed = { kind: 'done', changed: true }

  /** A service half of whose replicas run on each of two workers. */
  async function onTwoWorkers(): Promise<{ id: ServiceId; a: Reporter; b: Reporter }> {
    await database().prisma.host.updateMany({ data: { scheduling: 'CORDONED', allocation: { increment: 1 } } })
    const a = await store.register()
    const b = await store.register()
    const id = await store.create({ replicas })
    await store.committer.submit(id, { kind: 'tick' })
    while ((await store.place([id])) > 0);
    await store.reportReady(id, a, 1)
    await store.reportReady(id, b, 1)
    expect((await store.load(id)).columns.availableReplicas).toBe(replicas)
    return { id, a, b }
  }
  const rowsOf = async (id: ServiceId, after: bigint) => {
    const facts = await database().prisma.fact.findMany({
      where: { serviceId: id, kind: 'change', revision: { gt: after } },
      orderBy: { revision: 'asc' },
    })
    return facts.map(({ data }) => (data as unknown as ServiceFactData).replicas.length)
  }
  const on = async (id: ServiceId, { workerId }: Reporter) =>
    [...(await store.load(id)).replicas.values()].filter((row) => row.workerId === workerId)

  test('many intents at once, and one of very many rows: each commit keeps to the cap, and each intent is done to its end', async () => {
    const { id, a, b } = await onTwoWorkers()
    const { revision } = await store.load(id)
    const over: Partial<ReplicaReport> = { state: 'ENDED', ready: false, endReason: 'EXITED' }
    const reports = (await on(id, a)).map((row) => reportOf(row, over))
    await database().prisma.worker.update({ where: { id: b.workerId }, data: { reachability: 'LOST' } })
    const outcomes = await Promise.all([
      ...reports.map((said, at) =>
        store.committer.submit(id, { kind: 'report', reporter: a, sequence: 2 + at, reports: [said] }),
      ),
      store.committer.submit(id, { kind: 'lose', worker: b.workerId }),
      store.scale(id, replicas + 10),
    ])
    expect(outcomes).toEqual(outcomes.map(() => changed))
    expect(await on(id, a)).toEqual([])
    expect(await on(id, b)).toEqual([])
    const rows = await rowsOf(id, revision)
    expect(Math.max(...rows)).toBeLessThanOrEqual(rowsPerCommit)
    expect(rows.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(2 * replicas + 10)
    expect((await store.load(id)).columns.activeReplicas).toBe(replicas + 10)
  }, 60_000)

  test('an intent that takes several commits is refused where the first of them is', async () => {
    const { id, a, b } = await onTwoWorkers()
    const reports = [...(await on(id, a)), ...(await on(id, b))].map((row) => reportOf(row))
    const old = { ...a, epoch: a.epoch - 1 }
    const outcome = await store.committer.submit(id, { kind: 'report', reporter: old, sequence: 9, reports })
    expect(outcome).toMatchObject({ kind: 'refused', refusal: { code: 'FENCED' } })
    expect(await store.committer.submit(id, { kind: 'lose', worker: b.workerId })).toEqual({
      kind: 'done',
      changed: false,
    })
    expect(await on(id, b)).toHaveLength(replicas / 2)
  }, 60_000)
})
