import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Tail } from '../../../src/feed/tail.ts'
import type { ServiceId } from '../../../src/model/id.ts'
import type { Reporter } from '../../../src/model/intent.ts'
import type { ClusterChange } from '../../../src/store/commit/outcome.ts'
import { type PlacementState, readPlacement } from '../../../src/store/read/readPlacement.ts'
import { PlacementView } from '../../../src/systems/placement/placementView.ts'
import { TestStore } from '../../support/drivers/store.ts'
import { eachDatabase, silent } from '../../support/fixtures/databases.ts'
import { readHead } from '../../support/fixtures/readHead.ts'
import { content, reportOf, settings } from '../../support/fixtures/services.ts'
import { until } from '../../support/fixtures/until.ts'

const byId = <T extends { readonly id: string }>(rows: readonly T[]) => rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))

/** Two readings of one state, whatever their order. */
function comparable({ waiting, hosts, projects }: PlacementState) {
  const ports = (host: PlacementState['hosts'][number]) => host.takenPorts.toSorted((a, b) => a.port - b.port)
  return {
    waiting: byId(waiting),
    hosts: hosts.map((host) => ({ ...host, takenPorts: ports(host), replicasOf: [...host.replicasOf].sort() })),
    projects: byId(projects),
  }
}

eachDatabase((database) => {
  let store: TestStore
  let tail: Tail
  let view: PlacementView
  /** How many ids each reading asked for, since the last look. */
  let asked: (number | 'all')[] = []
  /** A statement with this in it fails. */
  let cut: string | null = null
  let a: Reporter
  let b: Reporter
  let web: ServiceId

  const write = (change: ClusterChange) => store.committer.write(change)
  const seen = async () => {
    const head = await readHead(database())
    await until(() => tail.head >= head, 'the tail has told everything')
    asked = []
    return view.read()
  }
  const rows = async (id: ServiceId) => [...(await store.load(id)).replicas.values()]

  beforeAll(async () => {
    store = await TestStore.on(database())
    tail = new Tail({ database: database(), committer: store.committer, log: silent })
    await tail.start()
    const { prisma } = database()
    const recorded = (text: string, ...values: unknown[]) => {
      if (cut !== null && text.includes(cut)) throw new Error('cut')
      asked.push(values[0] === undefined ? 'all' : (JSON.parse(String(values[0])) as unknown[]).length)
      return prisma.$queryRawUnsafe(text, ...values)
    }
    view = new PlacementView({ prisma: { $queryRawUnsafe: recorded as typeof prisma.$queryRawUnsafe } })
    tail.subscribe((facts) => view.note(facts))
    a = await store.register({ name: 'a', host: 'a' })
    b = await store.register({ name: 'b', host: 'b' })
  })
  afterAll(async () => {
    await tail.stop()
    await store.committer.stop()
  })

  describe('what it keeps is what a reading of everything says, after', () => {
    const ended = async (endReason: 'STOPPED' | 'PORT_TAKEN', sequence: number) => {
      const [row] = (await rows(web)).filter(({ hostId }) => hostId === a.hostId)
      if (row === undefined) throw new Error('nothing runs on a')
      if (endReason === 'STOPPED') await store.committer.submit(web, { kind: 'kill', replica: row.id, actor: 'test' })
      const reports = [reportOf(row, { state: 'ENDED', ready: false, endReason })]
      await store.committer.submit(web, { kind: 'report', reporter: a, sequence, reports })
    }
    test.each<readonly [string, () => Promise<unknown>]>([
      ['hosts came', async () => undefined],
      ['a service was created', async () => (web = await store.create({ replicas: 4 }))],
      ['it was placed', () => store.place([web])],
      ['a replica could not bind its port', () => ended('PORT_TAKEN', 1)],
      ['one was killed, has ended and is replaced', () => ended('STOPPED', 2)],
      ['it grew', () => store.scale(web, 9)],
      [
        'another one waits, which fits nowhere',
        () => store.create({ replicas: 3, content: content({ cpuMillis: 900_000 }) }),
      ],
      ['its limit per host changed', () => spreadStrictly()],
      ['it shrank to less than what waits', () => store.scale(web, 2)],
      ['it was placed again', () => store.place([web])],
      ['a project got a limit', () => write({ kind: 'applyProject', name: 'default', maxReplicas: 77, actor: 'test' })],
      ['a queue got a priority', () => write({ kind: 'applyQueue', name: 'default', priority: 7, actor: 'test' })],
      ['a host is drained', () => write({ kind: 'scheduleHost', name: 'a', scheduling: 'DRAINING', actor: 'test' })],
      ['a worker came back with more', () => store.register({ name: 'b', host: 'b', cpuMillis: 99_000 })],
      ['a host was lost', () => lose()],
      ['it was removed', () => write({ kind: 'removeHost', name: 'b', actor: 'test' })],
      [
        'the service was deleted',
        () => store.committer.submit(web, { kind: 'delete', expectedRevision: null, actor: 'test' }),
      ],
    ])('%s', async (_what, happen) => {
      await happen()
      expect(comparable(await seen())).toEqual(comparable(await readPlacement(database())))
    })

    async function spreadStrictly() {
      const { versions, columns } = await store.load(web)
      const version = versions.get(columns.versionNumber)
      if (version === undefined) throw new Error('no version')
      const profile = {
        id: version.profileRevisionId,
        content: version.content,
        settings: settings({ spreadMode: 'STRICT', maxPerHost: 3 }),
      }
      return store.committer.submit(web, {
        ...{ kind: 'update', expectedRevision: null, actor: 'test', overrides: {}, replicas: null, maxReplicas: null },
        ...{
          profile,
          settings: {},
          queue: null,
          metadata: {},
          startPaused: false,
          rolloutId: `rollout-${web}` as never,
        },
      })
    }
    async function lose() {
      await database().prisma.worker.update({ where: { id: b.workerId }, data: { reachability: 'UNREACHABLE' } })
      await write({ kind: 'confirmHostLoss', name: 'b', actor: 'test' })
      await store.committer.submit(web, { kind: 'lose', worker: b.workerId })
    }
  })

  test('a reading asks for what changed, however much there is', async () => {
    await seen()
    await seen()
    expect(asked).toEqual([])
    const many = await Promise.all(Array.from({ length: 20 }, () => store.create({ replicas: 1 })))
    await Promise.all(Array.from({ length: 20 }, (_, number) => store.register({ name: `more-${number}` })))
    await seen()
    expect(asked).toEqual([20, 20, 1])
    await store.place(many.slice(0, 1))
    await seen()
    expect(asked).toEqual([1, 1, 1])
    expect((await view.read()).hosts).toHaveLength(21)
  })

  test('a reading that fails is made up for by the next one', async () => {
    const id = await store.create({ replicas: 1 })
    const { hostId } = await store.register({ name: 'late', host: 'late' })
    await until(async () => tail.head >= (await readHead(database())), 'the tail has told everything')
    cut = '"Host" h ON'
    await expect(view.read()).rejects.toThrow('cut')
    cut = null
    const { waiting, hosts } = await view.read()
    expect(waiting.some(({ serviceId }) => serviceId === id)).toBe(true)
    expect(hosts.some((host) => host.id === hostId)).toBe(true)
  })
})
