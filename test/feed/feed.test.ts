import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EndpointFrame, endpointFrames } from '../../src/feed/frames/endpointFrames.ts'
import { serviceFollower } from '../../src/feed/serviceFollower.ts'
import { SharedSource } from '../../src/feed/sharedSource.ts'
import type { EndpointAddress } from '../../src/model/endpoint.ts'
import type { ServiceId } from '../../src/model/id.ts'
import { readEndpoint } from '../../src/store/read/readEndpoint.ts'
import { createService, placedReplicas, remove, scale } from '../support/drivers/apiService.ts'
import type { HandWorker } from '../support/drivers/handWorker.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { until } from '../support/fixtures/until.ts'

let server: TestServer
let worker: HandWorker
beforeAll(async () => {
  ;({ server, worker } = await TestServer.withWorker())
})
afterAll(() => server.stop())

async function idOf(name: string): Promise<ServiceId> {
  const row = await server.app.database.prisma.service.findFirstOrThrow({ where: { heldName: name } })
  return row.id as ServiceId
}

type Frames = AsyncGenerator<EndpointFrame, undefined, undefined>

function follow(id: ServiceId, includeNotReady = false, after: bigint | null = null): Frames {
  const { feed } = server.app
  const open = serviceFollower(feed, id, endpointFrames(id, { port: null, includeNotReady }))
  return new SharedSource(feed, id, { after }, open)[Symbol.asyncIterator]()
}

async function nextFrame(stream: Frames): Promise<EndpointFrame> {
  const { value } = await stream.next()
  if (value === undefined) throw new Error('The stream ended.')
  return value
}

/** Waits until the tail, and so the feed, has everything that is committed. */
async function caughtUp(): Promise<void> {
  const feed = await server.app.database.prisma.feed.findFirstOrThrow()
  await until(() => server.app.tail.head >= feed.head, 'the tail is at the head')
}

describe('frames of an endpoint', () => {
  test('a SNAPSHOT, then each change in order; removing and adding keeps the table right', async () => {
    await createService(server.client, 'ordered', 3)
    const id = await idOf('ordered')
    const replicas = await placedReplicas(server.client, 'ordered', 3)
    const stream = follow(id)
    const first = await nextFrame(stream)
    expect(first).toMatchObject({ kind: 'SNAPSHOT', addresses: [], added: [], removed: [] })

    const table = new Map<string, EndpointAddress>()
    let { revision } = first
    for (const { id: replica } of replicas) {
      await worker.report({ replica, state: 'RUNNING', ready: true })
      const frame = await nextFrame(stream)
      expect(frame.kind).toBe('DELTA')
      expect(frame.revision).toBeGreaterThan(revision)
      revision = frame.revision
      for (const gone of frame.removed) expect(table.delete(gone.id)).toBe(true)
      for (const address of frame.added) table.set(address.id, address)
      expect([...table.values()].toSorted((a, b) => a.index - b.index)).toEqual(frame.addresses)
    }
    expect(table.size).toBe(3)
    expect(await readEndpoint(server.app.database, id)).toMatchObject({
      addresses: [{ index: 0 }, { index: 1 }, { index: 2 }],
    })
    await stream.return(undefined)
  })

  test('what happens while a consumer sleeps waits for it, in order', async () => {
    await createService(server.client, 'slow', 1, { readiness: { tcp: { port: 'http' }, periodSeconds: 1 } })
    const id = await idOf('slow')
    const [replica] = await placedReplicas(server.client, 'slow', 1)
    const stream = follow(id)
    let { revision } = await nextFrame(stream)
    for (let flip = 1; flip <= 21; flip++)
      await worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready: flip % 2 === 1 })
    await caughtUp()
    const { head } = server.app.tail
    const frames: EndpointFrame[] = []
    while (revision < head) {
      const frame = await nextFrame(stream)
      expect(frame.revision).toBeGreaterThan(revision)
      expect(frame.kind).toBe('DELTA')
      revision = frame.revision
      frames.push(frame)
    }
    expect(frames.at(-1)).toMatchObject({ added: [{ ready: true }], removed: [], addresses: [{ ready: true }] })

    // Nothing is left over: the next frame is the next change.
    await worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready: false })
    expect(await nextFrame(stream)).toMatchObject({ kind: 'DELTA', added: [], removed: [{ ready: true }] })
    await stream.return(undefined)
  })

  test('frames that wait for one who sleeps on and on are given up for one SNAPSHOT', async () => {
    await createService(server.client, 'behind', 1, { readiness: { tcp: { port: 'http' }, periodSeconds: 1 } })
    const id = await idOf('behind')
    const [replica] = await placedReplicas(server.client, 'behind', 1)
    const stream = follow(id)
    await nextFrame(stream)
    const { counts } = server.app.feed
    const collapsed = counts.collapsed
    // A change may wait for the frame before it and share the next one: 257 frames take a few more changes.
    for (let flip = 1; counts.collapsed === collapsed && flip < 1_000; flip++) {
      await worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready: flip % 2 === 1 })
    }
    await worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready: true })
    await caughtUp()
    expect(counts.collapsed).toBe(collapsed + 1)
    expect(await nextFrame(stream)).toMatchObject({ kind: 'SNAPSHOT', added: [{ ready: true }], removed: [] })
    await worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready: false })
    expect(await nextFrame(stream)).toMatchObject({ kind: 'DELTA', added: [], removed: [{ ready: true }] })
    await stream.return(undefined)
  })

  test('a subscriber that comes later starts from the same table, and gets what follows only', async () => {
    await createService(server.client, 'later', 2)
    const id = await idOf('later')
    const [one, two] = await placedReplicas(server.client, 'later', 2)
    const early = follow(id)
    await nextFrame(early)
    await worker.report({ replica: one?.id ?? '', state: 'RUNNING', ready: true })
    const late = follow(id)
    expect(await nextFrame(late)).toMatchObject({ kind: 'SNAPSHOT', added: [{ index: 0 }] })
    await worker.report({ replica: two?.id ?? '', state: 'RUNNING', ready: true })
    expect(await nextFrame(late)).toMatchObject({ kind: 'DELTA', added: [{ index: 1 }] })
    await early.return(undefined)
    await late.return(undefined)
  })

  test('GONE ends the subscription when the last replica of a deleted service has ended', async () => {
    await createService(server.client, 'deleted', 1)
    const id = await idOf('deleted')
    const [replica] = await placedReplicas(server.client, 'deleted', 1)
    await worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready: true })
    const stream = follow(id)
    await nextFrame(stream)
    await remove(server.client, 'deleted')
    expect(await nextFrame(stream)).toMatchObject({ kind: 'DELTA', added: [], removed: [{ index: 0 }] })
    await worker.report({ replica: replica?.id ?? '', state: 'ENDED', endReason: 'STOPPED' })
    expect(await nextFrame(stream)).toMatchObject({ kind: 'GONE', addresses: [] })
    expect(await stream.next()).toEqual({ value: undefined, done: true })
  })

  test('another service’s changes wake nobody', async () => {
    await createService(server.client, 'quiet', 1)
    await createService(server.client, 'busy', 1)
    await placedReplicas(server.client, 'quiet', 1)
    const [replica] = await placedReplicas(server.client, 'busy', 1)
    let woken = 0
    const subscription = server.app.feed.openService(await idOf('quiet'), () => woken++)
    await subscription.read()
    await worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready: true })
    await scale(server.client, 'busy', 2)
    await caughtUp()
    subscription.close()
    expect(woken).toBe(0)
  })

  test('nothing is left of streams that ended', () => {
    expect(server.app.feed.topics).toBe(0)
  })
})
