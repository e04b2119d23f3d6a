import { randomUUID } from 'node:crypto'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { Feed } from '../../../src/feed/feed.ts'
import { Tail } from '../../../src/feed/tail.ts'
import type { Reporter } from '../../../src/model/intent.ts'
import { writeHeartbeat } from '../../../src/store/access/lease.ts'
import type { JudgeWorker } from '../../../src/store/commit/outcome.ts'
import { LogRequests } from '../../../src/systems/logs/logRequests.ts'
import { AssignmentSource } from '../../../src/systems/workers/assignmentSource.ts'
import { TestStore } from '../../support/drivers/store.ts'
import { eachDatabase, silent } from '../../support/fixtures/databases.ts'
import { content } from '../../support/fixtures/services.ts'

eachDatabase((database) => {
  let store: TestStore
  const serverId = randomUUID()
  beforeAll(async () => {
    store = await TestStore.on(database())
    await writeHeartbeat(database(), serverId)
  })

  async function judge({ hostId, workerId }: Reporter, to: JudgeWorker['to']) {
    const { leaseUntil } = await database().prisma.worker.findUniqueOrThrow({ where: { id: workerId } })
    const said = { leaseUntil: leaseUntil.getTime(), reason: to, message: to, serverId, heartbeatSeconds: 60 }
    return store.committer.write({ kind: 'judgeWorker', hostId, workerId, to, ...said })
  }

  /** The next frame of what is told to a worker from now on; null: there is nothing to tell. */
  async function follow(reporter: Reporter) {
    const tail = new Tail({ database: database(), committer: store.committer, log: silent })
    await tail.start()
    const feed = new Feed({ database: database(), tail })
    feed.start()
    const source = new AssignmentSource(
      { feed, database: database(), logRequests: new LogRequests(randomUUID) },
      reporter,
      null,
      () => undefined,
    )
    onTestFinished(async () => {
      source.close()
      feed.stop()
      await tail.stop()
    })
    return async () => {
      const { head } = await database().prisma.feed.findUniqueOrThrow({ where: { id: 1 } })
      await feed.reach(head)
      const pulled = await source.pull()
      return pulled && { ...pulled.frame, assignments: pulled.frame.assignments.map(({ replicaId }) => replicaId) }
    }
  }

  test('a worker that was lost hears at its return of what it has still, though no fact names it', async () => {
    const worker = { name: 'back', host: 'back', instance: 'of back' }
    const lost = await store.register(worker)
    const id = await store.create({ replicas: 1, content: content({ cpuMillis: 1 }) })
    expect(await store.place([id])).toBe(1)
    // The servers die before they have told the service.
    for (const to of ['UNREACHABLE', 'LOST'] as const) await judge(lost, to)
    const back = await store.register({ ...worker, clean: false })
    const next = await follow(back)
    expect(await next()).toMatchObject({ kind: 'SNAPSHOT', assignments: [] })
    await store.committer.write({ kind: 'returnWorker', ...back })
    const replica = await database().prisma.replica.findFirst({ where: { serviceId: id } })
    expect(await next()).toMatchObject({ kind: 'DELTA', last: true, assignments: [replica?.id], removed: [] })
    expect(await next()).toBeNull()
  })

  test('at a loss everything is taken from it, and what concerns its host alone tells nothing anew', async () => {
    const reporter = await store.register({ name: 'loses', host: 'loses', instance: 'of loses' })
    const id = await store.create({ replicas: 1, content: content({ cpuMillis: 1 }) })
    expect(await store.place([id])).toBe(1)
    const replica = await database().prisma.replica.findFirst({ where: { serviceId: id } })
    const next = await follow(reporter)
    expect(await next()).toMatchObject({ kind: 'SNAPSHOT', assignments: [replica?.id] })
    await store.committer.write({ kind: 'scheduleHost', name: 'loses', scheduling: 'CORDONED', actor: 'test' })
    await judge(reporter, 'UNREACHABLE')
    expect(await next()).toBeNull()
    // It is fenced by that, so that no more is told.
    await judge(reporter, 'LOST')
    await expect(next()).rejects.toThrow('registered anew')
  })
})
