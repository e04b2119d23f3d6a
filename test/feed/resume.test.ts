import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createService, placedReplicas, remove, scale } from '../support/drivers/apiService.ts'
import type { HandWorker } from '../support/drivers/handWorker.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { until } from '../support/fixtures/until.ts'
import { type Frame, Subscriber } from './subscriber.ts'

let server: TestServer
let worker: HandWorker
const subscribers: Subscriber[] = []
beforeAll(async () => {
  ;({ server, worker } = await TestServer.withWorker())
})
afterEach(async () => {
  for (const subscriber of subscribers.splice(0)) await subscriber.close()
  await until(() => server.app.feed.topics === 0, 'the feed has no topic')
})
afterAll(() => server.stop())

const endpointChanged = `subscription ($service: String!, $after: Revision) { endpointChanged(service: { name: $service }, after: $after) {
  kind revision endpoint { revision addresses { id ready } } added { id } removed { id }
} }`

interface EndpointFrame extends Frame {
  readonly endpoint: { readonly revision: string; readonly addresses: readonly { readonly id: string }[] } | null
  readonly added: readonly { readonly id: string }[]
  readonly removed: readonly { readonly id: string }[]
}

const ids = (addresses: readonly { readonly id: string }[]) => addresses.map(({ id }) => id).toSorted()

async function open(): Promise<Subscriber> {
  const subscriber = await Subscriber.open(server.client)
  subscribers.push(subscriber)
  return subscriber
}

async function follow(service: string, after?: unknown): Promise<Subscriber> {
  const subscriber = await open()
  subscriber.subscribe(endpointChanged, { service, ...(after === undefined ? {} : { after }) })
  return subscriber
}

async function head(): Promise<bigint> {
  const { head: revision } = await server.app.database.prisma.feed.findUniqueOrThrow({ where: { id: 1 } })
  await until(() => server.app.feed.position >= revision, 'the feed is at the head')
  return revision
}

async function kindAfter(service: string, after: unknown): Promise<string> {
  return (await (await follow(service, after)).frame()).kind
}

describe('endpointChanged resumes', () => {
  /** The table at each revision from the creation on, as the frames of one who was always there tell it. */
  const tables = new Map<bigint, readonly string[]>()
  let created: bigint
  let last: bigint

  beforeAll(async () => {
    await createService(server.client, 'history', 3)
    created = await head()
    const always = await Subscriber.open(server.client)
    always.subscribe(endpointChanged, { service: 'history' })
    const frames = [(await always.frame()) as EndpointFrame]
    const replicas = await placedReplicas(server.client, 'history', 3)
    const [one, two, three] = replicas.map(({ id }) => id)
    if (one === undefined || two === undefined || three === undefined) throw new Error('3 replicas are placed')
    const report = (replica: string, start: number, ready: boolean) =>
      worker.report({ replica, start, state: 'RUNNING', ready })
    for (const change of [
      () => report(one, 1, true),
      () => report(two, 1, true),
      () => report(three, 1, true),
      // Without a probe it is ready all the same: of that there is no frame.
      () => report(two, 1, false).then(() => report(two, 2, true)),
      () => scale(server.client, 'history', 2),
    ]) {
      await change()
      // Before the next one: two that come together may be one frame.
      frames.push((await always.frame()) as EndpointFrame)
    }
    last = await head()
    await always.close()
    let table: readonly string[] = []
    for (let revision = BigInt(frames[0]?.revision ?? 0); revision <= last; revision++) {
      const frame = frames.find((candidate) => BigInt(candidate.revision) === revision)
      if (frame?.endpoint) table = ids(frame.endpoint.addresses)
      tables.set(revision, table)
    }
    expect(new Set([...tables.values()].map(String)).size).toBeGreaterThan(4)
  })

  test('exactly, at every revision since the service exists', async () => {
    for (const [after, table] of tables) {
      const subscriber = await follow('history', String(after))
      if (String(table) === String(tables.get(last))) {
        // Nothing to tell, until something changes: a subscriber who is there shows that this one has been served.
        expect((await (await follow('history')).frame()).kind).toBe('SNAPSHOT')
        expect(subscriber.waiting).toBe(0)
        continue
      }
      const frame = (await subscriber.frame()) as EndpointFrame
      expect(frame.kind).toBe('DELTA')
      const now = new Set(table)
      for (const { id } of frame.removed) expect(now.delete(id)).toBe(true)
      for (const { id } of frame.added) now.add(id)
      expect([...now].toSorted()).toEqual(tables.get(last))
      expect(ids(frame.endpoint?.addresses ?? [])).toEqual(tables.get(last))
      expect(BigInt(frame.revision)).toBeGreaterThan(after)
    }
  })

  test('with a SNAPSHOT from before the service, from 0, from the future, and without `after`', async () => {
    expect(await kindAfter('history', String(created - 1n))).toBe('SNAPSHOT')
    expect(await kindAfter('history', '0')).toBe('SNAPSHOT')
    expect(await kindAfter('history', String((await head()) + 1n))).toBe('SNAPSHOT')
    expect(await kindAfter('history', '9223372036854775807')).toBe('SNAPSHOT')
    expect(await kindAfter('history', null)).toBe('SNAPSHOT')
    expect(await kindAfter('history', undefined)).toBe('SNAPSHOT')
  })

  test.each(['-1', 'yesterday', '1.5', '', 1.5, -1, true, '9223372036854775808'])(
    'not from %j: a top-level error',
    async (after) => {
      expect(await (await follow('history', after)).errorCode()).toBe('BAD_USER_INPUT')
    },
  )

  test('from the floor of the log, and with a SNAPSHOT from below it', async () => {
    const { prisma } = server.app.database
    const floor = [...tables.keys()].find((revision) => tables.get(revision)?.length === 1) ?? 0n
    await prisma.feed.update({ where: { id: 1 }, data: { floor } })
    try {
      expect(await kindAfter('history', String(floor))).toBe('DELTA')
      expect(await kindAfter('history', String(floor - 1n))).toBe('SNAPSHOT')
    } finally {
      await prisma.feed.update({ where: { id: 1 }, data: { floor: 0n } })
    }
  })

  test('a service that took the name of another one begins with a SNAPSHOT; one that is gone is NOT_FOUND', async () => {
    await createService(server.client, 'again', 0)
    const before = await head()
    await remove(server.client, 'again')
    expect(await (await follow('again', String(before))).errorCode()).toBe('NOT_FOUND')
    await createService(server.client, 'again', 0)
    expect(await kindAfter('again', String(before))).toBe('SNAPSHOT')
  })

  test('and goes on with the frames of all others', async () => {
    await createService(server.client, 'joins', 2)
    const [one, two] = await placedReplicas(server.client, 'joins', 2)
    const always = await follow('joins')
    const { revision } = await always.frame()
    await worker.report({ replica: one?.id ?? '', state: 'RUNNING', ready: true })
    await always.frame()
    const resumed = await follow('joins', revision)
    expect(await resumed.frame()).toMatchObject({ kind: 'DELTA', added: [{}] })
    await worker.report({ replica: two?.id ?? '', state: 'RUNNING', ready: true })
    const [a, b] = [await always.frame(), await resumed.frame()]
    expect(a).toEqual(b)
    expect(a).toMatchObject({ kind: 'DELTA', added: [{}] })
  })
})

describe('other subscriptions resume', () => {
  test('serviceChanged, replicasChanged, rolloutChanged, servicesChanged, hostsChanged and eventAdded', async () => {
    await createService(server.client, 'others', 1)
    const [replica] = await placedReplicas(server.client, 'others', 1)
    const before = String(await head())
    await worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready: true })
    await head()
    const documents = {
      serviceChanged: '(service: { name: "others" }, after: $after) { kind revision service { readyReplicas } }',
      replicasChanged:
        '(service: { name: "others" }, after: $after) { kind revision last replicas { id ready } removedIds }',
      rolloutChanged: '(service: { name: "others" }, after: $after) { kind revision rollout { state } }',
      servicesChanged: '(after: $after) { kind revision last services { name } removedIds }',
      eventAdded: '(after: $after) { kind revision events { message } }',
    }
    const expected = {
      serviceChanged: { service: { readyReplicas: 1 } },
      replicasChanged: { last: true, replicas: [{ id: replica?.id, ready: true }], removedIds: [] },
      rolloutChanged: { rollout: { state: 'COMPLETED' } },
      servicesChanged: { last: true, services: [{ name: 'others' }], removedIds: [] },
      eventAdded: { events: expect.arrayContaining([{ message: expect.stringContaining('ready') }]) },
    }
    for (const [field, rest] of Object.entries(documents)) {
      const subscriber = await open()
      subscriber.subscribe(`subscription ($after: Revision) { ${field}${rest} }`, { after: before })
      expect(await subscriber.frame()).toMatchObject({ kind: 'DELTA', ...expected[field as keyof typeof expected] })
      subscriber.subscribe(`subscription ($after: Revision) { ${field}${rest} }`, {}, 'anew')
      expect(await subscriber.frame('anew')).toMatchObject({ kind: 'SNAPSHOT' })
    }
    const registered = String(await head())
    await worker.register([{ replica: replica?.id ?? '', state: 'RUNNING', ready: true }])
    const hosts = await open()
    hosts.subscribe(
      'subscription ($after: Revision) { hostsChanged(after: $after) { kind last hosts { name } removedIds } }',
      {
        after: registered,
      },
    )
    expect(await hosts.frame()).toEqual({ kind: 'DELTA', last: true, hosts: [{ name: 'hand' }], removedIds: [] })
  })
})
