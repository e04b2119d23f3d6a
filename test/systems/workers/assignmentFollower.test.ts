import { randomUUID } from 'node:crypto'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { Feed } from '../../../src/feed/feed.ts'
import { SharedSource } from '../../../src/feed/sharedSource.ts'
import { Tail } from '../../../src/feed/tail.ts'
import type { AllocatedPort } from '../../../src/model/content.ts'
import type { ReplicaId } from '../../../src/model/id.ts'
import type { Reporter } from '../../../src/model/intent.ts'
import { writeHeartbeat } from '../../../src/store/access/lease.ts'
import type { JudgeWorker } from '../../../src/store/commit/outcome.ts'
import { LogRequests } from '../../../src/systems/logs/logRequests.ts'
import { assignmentFollower } from '../../../src/systems/workers/assignmentFollower.ts'
import { TestStore } from '../../support/drivers/store.ts'
import { eachDatabase, silent } from '../../support/fixtures/databases.ts'
import { content, reportOf } from '../../support/fixtures/services.ts'

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

  /** Afterwards nothing more is placed on the host: the next test has a host of its own. */
  const cordon = (name: string) =>
    store.committer.write({ kind: 'scheduleHost', name, scheduling: 'CORDONED', actor: 'test' })

  /** What gives the next frame of all that a worker is told, from `after` on. */
  async function follow(reporter: Reporter, after: bigint | null = null) {
    const tail = new Tail({ database: database(), committer: store.committer, log: silent })
    await tail.start()
    const feed = new Feed({ database: database(), tail })
    feed.start()
    const parts = { feed, database: database(), logRequests: new LogRequests(randomUUID) }
    const frames = new SharedSource(feed, 'assignments', { after }, assignmentFollower(parts as never, reporter))[
      Symbol.asyncIterator
    ]()
    onTestFinished(async () => {
      await frames.return(undefined)
      feed.stop()
      await tail.stop()
    })
    return async () => {
      const { value } = await frames.next()
      if (value === undefined) throw new Error('The frames have ended.')
      return { ...value, assignments: value.assignments.map(({ replicaId }) => replicaId) }
    }
  }

  test('a worker that was lost hears at its return of what it has still, though no fact names it', async () => {
    const worker = { name: 'back', host: 'back', stateDirectoryId: 'of back' }
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
    // Nothing else was told: the next frame is of the next change.
    const other = await store.create({ replicas: 1, content: content({ cpuMillis: 1 }) })
    expect(await store.place([other])).toBe(1)
    const second = await database().prisma.replica.findFirst({ where: { serviceId: other } })
    expect(await next()).toMatchObject({ kind: 'DELTA', assignments: [second?.id], removed: [] })
    await cordon('back')
  })

  test('who resumes hears of what ended in between, also of what it alone remembers', async () => {
    const reporter = await store.register({ name: 'resumes', host: 'resumes', stateDirectoryId: 'of resumes' })
    const id = await store.create({ replicas: 2, content: content({ cpuMillis: 1 }) })
    expect(await store.place([id])).toBe(2)
    const [first, second] = await database().prisma.replica.findMany({
      where: { serviceId: id },
      orderBy: { id: 'asc' },
    })
    const { head } = await database().prisma.feed.findUniqueOrThrow({ where: { id: 1 } })
    const kill = (replica: string | undefined) =>
      store.committer.submit(id, { kind: 'kill', replica: replica as ReplicaId, actor: 'test' })
    await kill(first?.id)
    const placed = { id: first?.id as ReplicaId, start: 1, ports: first?.ports as unknown as readonly AllocatedPort[] }
    const ended = reportOf(placed, { state: 'ENDED', ready: false, endReason: 'STOPPED' })
    await store.committer.submit(id, { kind: 'report', reporter, sequence: 1, reports: [ended] })
    const next = await follow(reporter, head)
    expect(await next()).toMatchObject({ kind: 'DELTA', assignments: [], removed: expect.arrayContaining([first?.id]) })
    await kill(second?.id)
    expect(await next()).toMatchObject({ kind: 'DELTA', assignments: [second?.id], removed: [] })
    await cordon('resumes')
  })

  test('at a loss everything is taken from it, and what concerns its host alone tells nothing anew', async () => {
    const reporter = await store.register({ name: 'loses', host: 'loses', stateDirectoryId: 'of loses' })
    const id = await store.create({ replicas: 1, content: content({ cpuMillis: 1 }) })
    expect(await store.place([id])).toBe(1)
    const replica = await database().prisma.replica.findFirst({ where: { serviceId: id } })
    const next = await follow(reporter)
    expect(await next()).toMatchObject({ kind: 'SNAPSHOT', assignments: [replica?.id] })
    await cordon('loses')
    await judge(reporter, 'UNREACHABLE')
    // Of all this nothing is told but the end: it is fenced by that.
    await judge(reporter, 'LOST')
    await expect(next()).rejects.toThrow('registered again')
  })
})
