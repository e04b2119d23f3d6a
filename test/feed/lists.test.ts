import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { deletions } from '../../src/store/retention/deletions.ts'
import { change, createService, placedReplicas, remove, scale } from '../support/drivers/apiService.ts'
import { HandWorker } from '../support/drivers/handWorker.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { until } from '../support/fixtures/until.ts'
import { type Frame, Subscriber } from './subscriber.ts'

let server: TestServer
let worker: HandWorker
const subscribers: Subscriber[] = []
beforeAll(async () => {
  ;({ server, worker } = await TestServer.withWorker(undefined, { bookmarkMillis: 150 }))
})
afterEach(async () => {
  for (const subscriber of subscribers.splice(0)) await subscriber.close()
  await until(() => server.app.feed.topics === 0, 'the feed has no topic')
})
afterAll(() => server.stop())

async function follow(
  document: string,
  variables: Record<string, unknown> = {},
  client = server.client,
): Promise<Subscriber> {
  const subscriber = await Subscriber.open(client)
  subscribers.push(subscriber)
  subscriber.subscribe(document, variables)
  return subscriber
}

/** The next frame that tells something. */
async function news(subscriber: Subscriber): Promise<Frame> {
  for (;;) {
    const frame = await subscriber.frame()
    if (frame.kind !== 'BOOKMARK') return frame
  }
}

/** Frames until one is as wanted. */
async function newsUntil(subscriber: Subscriber, wanted: (frame: Frame) => boolean): Promise<Frame> {
  for (;;) {
    const frame = await news(subscriber)
    if (wanted(frame)) return frame
  }
}

describe('servicesChanged', () => {
  const document = `subscription ($filter: ServiceFilter) { servicesChanged(filter: $filter) {
    kind revision last services { id name status } removedIds
  } }`
  const names = (frame: Frame) => (frame['services'] as { name: string }[]).map(({ name }) => name)

  test('a service comes with a label and leaves with it', async () => {
    await createService(server.client, 'label-a', 0)
    await createService(server.client, 'label-b', 0)
    const filter = { nameStartsWith: 'label-', labels: [{ key: 'team', values: ['search'] }] }
    const labelled = await follow(document, { filter })
    expect(await news(labelled)).toMatchObject({ kind: 'SNAPSHOT', services: [], removedIds: [] })
    const note = (labels: readonly object[]) =>
      change(server.client, 'updateService', 'UpdateServiceInput', { service: { name: 'label-b' }, labels })
    await note([{ key: 'team', value: 'search' }])
    expect(names(await newsUntil(labelled, (frame) => names(frame).length > 0))).toEqual(['label-b'])
    await note([])
    const left = await newsUntil(labelled, (frame) => (frame['removedIds'] as string[]).length > 0)
    expect(names(left)).toEqual([])
  })

  test('follows what matches the filter, and tells what left it', async () => {
    await createService(server.client, 'list-a', 0)
    await createService(server.client, 'elsewhere', 0)
    const all = await follow(document, { filter: { nameStartsWith: 'list-' } })
    const stopped = await follow(document, { filter: { nameStartsWith: 'list-', statuses: ['STOPPED'] } })
    const first = await news(all)
    expect(first).toMatchObject({ kind: 'SNAPSHOT', last: true, removedIds: [] })
    expect(names(first)).toEqual(['list-a'])
    expect(names(await news(stopped))).toEqual(['list-a'])
    const [{ id }] = first['services'] as [{ id: string }]

    await scale(server.client, 'elsewhere', 1)
    await createService(server.client, 'list-b', 0)
    const created = await newsUntil(all, (frame) => names(frame).includes('list-b'))
    expect([created.kind, names(created)]).toEqual(['DELTA', ['list-b']])
    expect(names(await news(stopped))).toEqual(['list-b'])

    await scale(server.client, 'list-a', 1)
    expect(await news(stopped)).toMatchObject({ kind: 'DELTA', services: [], removedIds: [id] })
    await newsUntil(all, (frame) => names(frame).includes('list-a'))
    await scale(server.client, 'list-a', 0)
    const back = await newsUntil(stopped, (frame) => names(frame).length > 0)
    expect(names(back)).toEqual(['list-a'])

    await remove(server.client, 'list-b')
    const gone = await newsUntil(all, (frame) => (frame['removedIds'] as string[]).length > 0)
    expect(gone).toMatchObject({ kind: 'DELTA', services: [] })
  })

  test('a bad filter is refused', async () => {
    expect(await (await follow(document, { filter: { nameStartsWith: 'a\0' } })).errorCode()).toBe('BAD_USER_INPUT')
  })
})

describe('lists in parts', () => {
  test('replicasChanged with a filter: those that match, and the ids of those that changed and do not', async () => {
    await createService(server.client, 'filtered', 2, { readiness: { tcp: { port: 'http' } } })
    const [one] = await placedReplicas(server.client, 'filtered', 2)
    const ready = await follow(
      `subscription { replicasChanged(service: { name: "filtered" }, filter: { ready: true }) { kind replicas { id } removedIds } }`,
    )
    expect(await news(ready)).toMatchObject({ kind: 'SNAPSHOT', replicas: [], removedIds: [] })
    await worker.report({ replica: one?.id ?? '', state: 'RUNNING', ready: true })
    const shown = await newsUntil(ready, (frame) => (frame['replicas'] as unknown[]).length > 0)
    expect(shown).toMatchObject({ kind: 'DELTA', replicas: [{ id: one?.id }], removedIds: [] })
    await worker.report({ replica: one?.id ?? '', state: 'RUNNING', ready: false })
    expect(await newsUntil(ready, (frame) => (frame['removedIds'] as unknown[]).length > 0)).toMatchObject({
      replicas: [],
      removedIds: [one?.id],
    })
  })

  test('replicasChanged: a SNAPSHOT of 1,100 replicas is 3 parts', async () => {
    await createService(server.client, 'large', 1_100)
    const replicas = async () => server.app.database.prisma.replica.count({ where: { service: { name: 'large' } } })
    await until(async () => (await replicas()) === 1_100, 'all have rows')
    const subscriber = await follow(
      `subscription { replicasChanged(service: { name: "large" }) { kind revision last replicas { id } removedIds } }`,
    )
    const parts = [await news(subscriber), await news(subscriber), await news(subscriber)]
    expect(parts.map(({ kind, last }) => [kind, last])).toEqual([
      ['SNAPSHOT', false],
      ['SNAPSHOT', false],
      ['SNAPSHOT', true],
    ])
    expect(new Set(parts.map(({ revision }) => revision)).size).toBe(1)
    const ids = parts.flatMap((part) => (part['replicas'] as { id: string }[]).map(({ id }) => id))
    expect([ids.length, new Set(ids).size]).toEqual([1_100, 1_100])
    await subscriber.close()
    await scale(server.client, 'large', 0)
  })
})

describe('hostsChanged', () => {
  test('follows registrations, and use by replicas', async () => {
    const subscriber = await follow(
      'subscription { hostsChanged { kind last hosts { name cpuMillis usedCpuMillis } removedIds } }',
    )
    expect(await news(subscriber)).toMatchObject({
      kind: 'SNAPSHOT',
      last: true,
      hosts: [{ name: 'hand' }],
      removedIds: [],
    })
    await new HandWorker(server.client, 'second').register([], { cpuMillis: 1 })
    expect(
      await newsUntil(subscriber, ({ hosts }) => (hosts as { name: string }[]).some(({ name }) => name === 'second')),
    ).toMatchObject({
      kind: 'DELTA',
    })
    await createService(server.client, 'user', 1)
    const [replica] = await placedReplicas(server.client, 'user', 1)
    const used = await newsUntil(subscriber, ({ hosts }) =>
      (hosts as { name: string; usedCpuMillis: number }[]).some(
        ({ name, usedCpuMillis }) => name === replica?.host?.name && usedCpuMillis > 0,
      ),
    )
    expect(used.kind).toBe('DELTA')
  })

  test('with a filter tells hosts that match it, those that begin to, and those that no longer do', async () => {
    const document =
      'subscription ($filter: HostFilter) { hostsChanged(filter: $filter) { kind hosts { name scheduling } removedIds } }'
    await new HandWorker(server.client, 'beside').register([], { cpuMillis: 1 })
    const worker = new HandWorker(server.client, 'filtered')
    await worker.register([], { cpuMillis: 1 })
    const subscriber = await follow(document, {
      filter: { names: ['filtered'], schedulings: ['CORDONED', 'DRAINING'] },
    })
    expect(await news(subscriber)).toMatchObject({ kind: 'SNAPSHOT', hosts: [], removedIds: [] })
    const operate = (mutation: string, host: string) =>
      server.client.ask(
        `mutation ($host: String!) { ${mutation}Host(input: { host: { name: $host } }) { ... on Error { message } } }`,
        { host },
      )
    await operate('cordon', 'beside')
    await operate('cordon', 'filtered')
    // The frame of another name's host is not told at all.
    expect(await news(subscriber)).toMatchObject({
      kind: 'DELTA',
      hosts: [{ name: 'filtered', scheduling: 'CORDONED' }],
      removedIds: [],
    })
    await operate('uncordon', 'beside')
    await operate('uncordon', 'filtered')
    expect(await news(subscriber)).toMatchObject({
      kind: 'DELTA',
      hosts: [],
      removedIds: [expect.stringMatching(/^Host_/)],
    })
    await subscriber.close()
  })
})

describe('eventAdded', () => {
  test('tells every event that matches, once and in order', async () => {
    await createService(server.client, 'told', 1)
    const document = `subscription ($filter: EventFilter) { eventAdded(filter: $filter) { kind revision events { revision message kind } } }`
    const subscriber = await follow(document, { filter: { services: ['told'], kinds: ['SERVICE_SCALED'] } })
    expect(await news(subscriber)).toMatchObject({ kind: 'SNAPSHOT', events: [] })
    for (let replicas = 2; replicas <= 6; replicas++) await scale(server.client, 'told', replicas)
    const events: { revision: string; message: string }[] = []
    while (events.length < 5) events.push(...((await news(subscriber))['events'] as typeof events))
    expect(events.map(({ message }) => /(\d+)\D*$/.exec(message)?.[1])).toEqual(['2', '3', '4', '5', '6'])
    const again = await follow(document, { filter: { services: ['told'], kinds: ['SERVICE_SCALED'] } })
    expect(await news(again)).toMatchObject({ kind: 'SNAPSHOT', events: events.map(({ revision }) => ({ revision })) })
  })

  test('resumes over more events than one frame has, in frames that abut', async () => {
    const { database, feed } = server.app
    // In one statement, which has the counter first: the server commits beside it.
    const [{ head } = { head: 0n }] = await database.prisma.$queryRaw<{ head: bigint }[]>`
      WITH moved AS (UPDATE "Feed" SET "head" = "head" + 1200 WHERE "id" = 1 RETURNING "head" - 1200 AS head),
      facts AS (INSERT INTO "Fact" ("revision", "kind", "data", "at")
        SELECT head + n, 'profile', '{"format": 1, "wakesPlacement": false}', now() FROM moved, generate_series(1, 1200) n),
      events AS (INSERT INTO "Event" ("revision", "kind", "message", "actor", "at")
        SELECT head + n, 'PROFILE', 'Event ' || n, 'test', now() FROM moved, generate_series(1, 1200) n)
      SELECT head, pg_notify('facts', '')::text FROM moved`
    await until(() => feed.position >= head + 1200n, 'the feed has them')
    const subscriber = await follow(
      'subscription ($after: Revision) { eventAdded(after: $after) { kind revision events { revision } } }',
      {
        after: String(head),
      },
    )
    const seen: bigint[] = []
    let position = head
    while (seen.length < 1_200) {
      const frame = await news(subscriber)
      const revisions = (frame['events'] as { revision: string }[]).map(({ revision }) => BigInt(revision))
      expect([frame.kind, revisions.length <= 500]).toEqual(['DELTA', true])
      for (const revision of revisions) expect(revision > position && revision <= BigInt(frame.revision)).toBe(true)
      position = BigInt(frame.revision)
      seen.push(...revisions)
    }
    expect(seen.slice(0, 1_200)).toEqual(Array.from({ length: 1_200 }, (_, index) => head + 1n + BigInt(index)))
  })

  test('resumes from where all events are kept, and with a SNAPSHOT from before, although the facts go further back', async () => {
    const { database } = server.app
    const document =
      'subscription ($after: Revision) { eventAdded(after: $after) { kind revision events { revision } } }'
    // Who was there before the trim keeps the changes in memory.
    const always = await follow(document)
    expect((await news(always)).kind).toBe('SNAPSHOT')
    // Nothing follows by itself from a profile.
    for (const memoryMiB of [1, 2, 3, 4, 5]) {
      await change(server.client, 'applyProfile', 'ApplyProfileInput', {
        name: 'trimmed',
        command: ['sleep', '1'],
        memoryMiB,
      })
    }
    const { head, floor } = await database.prisma.feed.findUniqueOrThrow({ where: { id: 1 } })
    await newsUntil(always, ({ revision }) => BigInt(revision) >= head)
    const trim = deletions.find(({ what }) => what === 'events')
    await trim?.run(database, { ...server.app.config.retention, events: { keptHours: 1, mostKept: 3 } }, 10_000)
    const kept = (await database.prisma.event.findMany({ orderBy: { revision: 'asc' } })).map(
      ({ revision }) => revision,
    )
    const [oldest = 0n] = kept
    expect(kept).toHaveLength(3)
    expect(oldest - 2n).toBeGreaterThan(floor)

    const exact = await news(await follow(document, { after: String(oldest - 1n) }))
    expect(exact).toMatchObject({ kind: 'DELTA', events: kept.map((revision) => ({ revision: String(revision) })) })
    expect((await news(await follow(document, { after: String(oldest - 2n) }))).kind).toBe('SNAPSHOT')
    await database.prisma.event.deleteMany({})
    expect((await news(await follow(document, { after: String(head - 1n) }))).kind).toBe('SNAPSHOT')
  })
})

describe('rolloutChanged', () => {
  test('follows the current rollout, and not every change of the service', async () => {
    await createService(server.client, 'rolled', 1)
    const subscriber = await follow(
      'subscription { rolloutChanged(service: { name: "rolled" }) { kind revision rollout { number state availableReplicas desiredReplicas } } }',
    )
    expect(await news(subscriber)).toMatchObject({ kind: 'SNAPSHOT', rollout: { number: 1, state: 'ROLLING' } })
    const [replica] = await placedReplicas(server.client, 'rolled', 1)
    await worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready: true })
    const done = await newsUntil(subscriber, ({ rollout }) => (rollout as { state: string }).state === 'COMPLETED')
    expect(done).toMatchObject({ kind: 'DELTA', rollout: { number: 1, availableReplicas: 1 } })
    await remove(server.client, 'rolled')
    await worker.report({ replica: replica?.id ?? '', state: 'ENDED', endReason: 'STOPPED' })
    expect(await newsUntil(subscriber, ({ kind }) => kind === 'GONE')).toMatchObject({
      rollout: { number: 1, state: 'COMPLETED' },
    })
    expect(await subscriber.next()).toMatchObject({ type: 'complete' })
  })
})

describe('a BOOKMARK', () => {
  test('comes when nothing else does, at a position from which one can resume', async () => {
    await createService(server.client, 'idle', 0)
    const document =
      'subscription ($after: Revision) { endpointChanged(service: { name: "idle" }, after: $after, bookmarks: true) { kind revision endpoint { id } added { id } } }'
    const subscriber = await follow(document)
    expect((await subscriber.frame()).kind).toBe('SNAPSHOT')
    await createService(server.client, 'idle-other', 0)
    const { head } = await server.app.database.prisma.feed.findUniqueOrThrow({ where: { id: 1 } })
    const bookmark = await until(async () => {
      const frame = await subscriber.frame()
      return BigInt(frame.revision) >= head ? frame : null
    }, 'a bookmark has the new position')
    expect(bookmark).toMatchObject({ kind: 'BOOKMARK', endpoint: { id: expect.any(String) }, added: [] })
    const resumed = await follow(document, { after: bookmark.revision })
    expect(await resumed.frame()).toMatchObject({ kind: 'BOOKMARK' })
  })

  test('does not come to who did not ask for it', async () => {
    await createService(server.client, 'quiet', 0)
    const document = 'subscription { serviceChanged(service: { name: "quiet" }) { kind service { name } } }'
    const silent = await follow(document)
    const asking = await follow(document.replace('"quiet" }', '"quiet" }, bookmarks: true'))
    for (const kind of ['SNAPSHOT', 'BOOKMARK', 'BOOKMARK'])
      expect(await asking.frame()).toEqual({ kind, service: { name: 'quiet' } })
    expect(await silent.frame()).toMatchObject({ kind: 'SNAPSHOT' })
    expect(silent.waiting).toBe(0)
  })

  test('comes to a worker that asks for it too', async () => {
    const second = new HandWorker(server.client, 'idle-worker')
    await second.register()
    const subscriber = await follow(
      'subscription ($worker: ID!, $epoch: Int!, $after: Revision) { assignmentsChanged(worker: $worker, epoch: $epoch, after: $after, bookmarks: true) { kind revision last assignments { replica } removed } }',
      { worker: second.id, epoch: second.epoch },
      server.client.worker,
    )
    expect((await subscriber.frame()).kind).toBe('SNAPSHOT')
    const bookmark = await subscriber.frame()
    expect(bookmark).toMatchObject({ kind: 'BOOKMARK', last: true, assignments: [], removed: [] })
  })
})
