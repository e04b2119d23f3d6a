import { EventEmitter, once } from 'node:events'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createService, placedReplicas, scale } from '../support/drivers/apiService.ts'
import type { HandWorker } from '../support/drivers/handWorker.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { until } from '../support/fixtures/until.ts'
import { FlippingService, heardUpTo, openSingleConnection, sleepers } from './sleepers.ts'
import { Subscriber } from './subscriber.ts'

let server: TestServer
let worker: HandWorker
const logged: Record<string, unknown>[] = []
const log = pino({ level: 'error' }, { write: (line: string) => logged.push(JSON.parse(line)) })
const subscribers: Subscriber[] = []
beforeAll(async () => {
  ;({ server, worker } = await TestServer.withWorker(undefined, { log }))
})
afterEach(async () => {
  for (const subscriber of subscribers.splice(0)) await subscriber.close()
  const { feed, sessions } = server.app
  await until(
    () => feed.topics === 0 && feed.groups.size === 0 && feed.counts.subscribers === 0,
    'nothing is left in the feed',
  )
  await until(() => sessions.open === 0, 'no token is followed')
})
afterAll(() => server.stop())

const document = `subscription ($service: String!) { endpointChanged(service: { name: $service }) { kind revision added { id } removed { id } } }`

async function openSubscriber(): Promise<Subscriber> {
  const subscriber = await Subscriber.open(server.client)
  subscribers.push(subscriber)
  return subscriber
}

async function flipperOf(name: string): Promise<(ready: boolean) => Promise<unknown>> {
  await createService(server.client, name, 1, { readiness: { tcp: { port: 'http' }, periodSeconds: 1 } })
  const [replica] = await placedReplicas(server.client, name, 1)
  return (ready) => worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready })
}

/** The embedded database has one connection: while it is taken, nothing is read. Returns what gives it back. */
async function takeConnection(): Promise<() => Promise<void>> {
  const told = new EventEmitter()
  const taken = once(told, 'taken')
  const busy = server.app.database.prisma.$transaction(async (transaction) => {
    await transaction.$queryRaw`SELECT 1`
    const free = once(told, 'free')
    told.emit('taken')
    await free
  })
  await taken
  return async () => {
    told.emit('free')
    await busy
  }
}

describe('sockets', () => {
  test('300 that close before their subscription has begun leave no listener', async () => {
    await createService(server.client, 'left', 0)
    const { app, client, url } = server
    const delivered = app.feed.counts.delivered
    for (let round = 0; round < 3; round++) {
      const sockets = await Promise.all(
        Array.from({ length: 100 }, async () => {
          const socket = new WebSocket(url.replace(/^http/, 'ws'), 'graphql-transport-ws')
          socket.on('error', () => undefined)
          await once(socket, 'open')
          socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${client.token}` } }))
          await once(socket, 'message')
          return socket
        }),
      )
      const closed = Promise.all(sockets.map((socket) => once(socket, 'close')))
      const free = await takeConnection()
      for (const [index, socket] of sockets.entries()) {
        socket.send(
          JSON.stringify({ id: '1', type: 'subscribe', payload: { query: document, variables: { service: 'left' } } }),
          () => (index % 2 === 0 ? socket.terminate() : socket.close()),
        )
      }
      await closed
      await until(() => app.feed.counts.subscribers === 0, 'nobody has joined')
      await free()
    }
    expect(app.feed.counts.delivered).toBe(delivered)
  })

  test('one that closes before its token is looked up follows nothing', async () => {
    const socket = new WebSocket(server.url.replace(/^http/, 'ws'), 'graphql-transport-ws')
    await once(socket, 'open')
    const free = await takeConnection()
    const closed = once(socket, 'close')
    socket.send(
      JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${server.client.token}` } }),
      () => socket.terminate(),
    )
    await closed
    await free()
    // The look-up is done when the next one is. The server may hear of the close after that.
    await server.client.ask('{ viewer { subject } }')
    await until(() => server.app.sessions.open === 0, 'nothing follows its token')
  })

  test('a second operation of the same id closes the socket with 4409', async () => {
    await createService(server.client, 'twice', 0)
    const subscriber = await openSubscriber()
    subscriber.subscribe(document, { service: 'twice' })
    await subscriber.frame()
    subscriber.subscribe(document, { service: 'twice' })
    expect(await until(() => subscriber.closed, 'it closes')).toMatchObject({ code: 4409 })
  })

  test('an id is free again after complete', async () => {
    await createService(server.client, 'free', 0)
    const subscriber = await openSubscriber()
    for (let turn = 0; turn < 3; turn++) {
      subscriber.subscribe(document, { service: 'free' })
      expect((await subscriber.frame()).kind).toBe('SNAPSHOT')
      subscriber.send({ id: '1', type: 'complete' })
      await until(() => server.app.feed.counts.subscribers === 0, 'it has left')
    }
  })

  test.each([
    ['complete', { id: '1', type: 'complete' }],
    ['ping', { type: 'ping' }],
  ])('%s before connection_init does no harm', async (_name, message) => {
    const subscriber = await Subscriber.open(server.client, false)
    subscribers.push(subscriber)
    subscriber.send(message)
    subscriber.send({ type: 'connection_init', payload: { authorization: `Bearer ${server.client.token}` } })
    await subscriber.next(({ type }) => type === 'connection_ack')
  })

  test('2,000 operations on one socket all hear of a change', async () => {
    const flip = await flipperOf('crowded')
    const subscriber = await openSubscriber()
    let frames = 0
    subscriber.socket.removeAllListeners('message')
    subscriber.socket.on('message', () => void frames++)
    for (let id = 0; id < 2_000; id++) subscriber.subscribe(document, { service: 'crowded' }, String(id))
    await until(() => frames === 2_000, 'each has its SNAPSHOT')
    // A connection that was idle meanwhile may just have been closed by the server.
    await server.client.send('{ viewer { subject } }').catch(() => undefined)
    await flip(true)
    await until(() => frames === 4_000, 'each has the change')
  })
})

describe('an error in a resolver', () => {
  test('on event 3 is an error of that frame, or ends the subscription where the frame is lost; nothing else hears of it', async () => {
    await createService(server.client, 'breaks', 1)
    const subscriber = await openSubscriber()
    const service = '{ desiredReplicas queue { name } }'
    const events = `eventAdded(filter: { services: ["breaks"] }) { kind events { service ${service} } }`
    subscriber.subscribe(`subscription { ${events} }`, {}, 'nullable')
    subscriber.subscribe(`subscription { servicesChanged { kind services ${service} } }`, {}, 'lost')
    subscriber.subscribe(document, { service: 'breaks' }, 'other')
    const all = ['nullable', 'lost', 'other']
    await until(() => all.every((own) => subscriber.messages.some(({ id }) => id === own)), 'each has its SNAPSHOT')
    const { prisma } = server.app.database
    await scale(server.client, 'breaks', 2)
    const [replica] = await placedReplicas(server.client, 'breaks', 2)
    await until(
      () => server.app.feed.position === server.app.tail.head && subscriber.messages.length >= 5,
      'each has a change',
    )
    await prisma.$executeRaw`ALTER TABLE "Queue" RENAME COLUMN "name" TO "elsewhere"`
    try {
      await worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready: true })
      const failed = (own: string) =>
        subscriber.messages.find(({ id, payload }) => id === own && payload?.errors !== undefined)
      await until(() => failed('nullable') && failed('lost'), 'both have the error')
      expect(failed('nullable')?.payload).toMatchObject({
        data: { eventAdded: { kind: 'DELTA', events: [{ service: null }] } },
        errors: [{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
      })
      expect(failed('lost')?.payload).toMatchObject({ errors: [{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }] })
      await until(
        () => subscriber.messages.some(({ id, type }) => id === 'lost' && type === 'complete'),
        'it is complete',
      )
      expect(JSON.stringify(failed('lost'))).not.toContain('elsewhere')
    } finally {
      await prisma.$executeRaw`ALTER TABLE "Queue" RENAME COLUMN "elsewhere" TO "name"`
    }
    await scale(server.client, 'breaks', 3)
    const shown = {
      eventAdded: { kind: 'DELTA', events: [{ service: { desiredReplicas: 3, queue: { name: 'default' } } }] },
    }
    await until(
      () => subscriber.messages.some(({ id, payload }) => id === 'nullable' && isShown(payload?.data, shown)),
      'it goes on',
    )
    expect(subscriber.messages.some(({ id, type }) => id === 'other' && type !== 'next')).toBe(false)
    expect(subscriber.closed).toBeNull()
  })
})

function isShown(data: unknown, shown: unknown): boolean {
  return JSON.stringify(data) === JSON.stringify(shown)
}

// The others, and longer: test/long/sleepers.long.ts
describe.each(sleepers.filter((_sleeper, index) => index % 2 === 0))(
  'a consumer that sleeps, over %s',
  (transport, frameKiB, open) => {
    test('gets one SNAPSHOT when it wakes, and others hear everything meanwhile', async () => {
      const service = await FlippingService.on(
        server,
        worker,
        `sleepy-${sleepers.findIndex(([name]) => name === transport)}`,
      )
      const { counts } = server.app.feed
      const sleeper = await open(server, service.document(frameKiB))
      const other = await openSubscriber()
      other.subscribe(document, { service: service.name })
      expect([(await sleeper.frame()).kind, (await other.frame()).kind]).toEqual(['SNAPSHOT', 'SNAPSHOT'])
      sleeper.sleep()
      const collapsed = counts.collapsed
      let flips = 0
      for (; counts.collapsed === collapsed && flips < 10_000; flips++) await service.flip()
      expect(counts.collapsed).toBe(collapsed + 1)
      await service.flip()
      const { head } = await server.app.database.prisma.feed.findUniqueOrThrow({ where: { id: 1 } })
      let revision = 0n
      while (revision < head) {
        const frame = await other.frame()
        expect(frame.kind).toBe('DELTA')
        revision = BigInt(frame.revision)
      }
      sleeper.wake()
      const frames = await heardUpTo(sleeper, head)
      const revisions = frames.map((frame) => BigInt(frame.revision))
      expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => Number(a - b)))
      expect(frames.map(({ kind }) => kind).filter((kind) => kind === 'SNAPSHOT')).toHaveLength(1)
      expect(frames.at(-1)?.kind).toBe('SNAPSHOT')
      // At least so many had waited: 4 MiB of the largest frames.
      expect(frames.length).toBeLessThan(flips - 15)
      await sleeper.close()
    })
  },
)

describe('a reader for whom too many bytes wait', () => {
  const query =
    '{ __schema { types { name description fields { name description type { name } args { name description } } } } }'

  test('is closed on a WebSocket, with 4413', async () => {
    const { counts } = server.app.feed
    const closed = counts.closed
    const subscriber = await openSubscriber()
    subscriber.socket.pause()
    for (let id = 0; id < 400 && counts.closed === closed; id++) {
      subscriber.subscribe(query, {}, String(id))
      if (id % 20 === 19) await server.client.send('{ viewer { subject } }')
    }
    await until(() => counts.closed > closed, 'it is closed')
    subscriber.socket.resume()
    expect(await until(() => subscriber.closed, 'it hears of it')).toMatchObject({ code: 4413 })
  })

  test('is cut on an event stream, and no end of it is told', async () => {
    const { counts } = server.app.feed
    const closed = counts.closed
    const { stream, send } = await openSingleConnection(server)
    for (let id = 0; id < 400 && counts.closed === closed; id++) await send(String(id), query).catch(() => undefined)
    expect(counts.closed).toBe(closed + 1)
    const events: string[] = []
    const reading = (async () => {
      for (let event = await stream.next(); event !== null; event = await stream.next()) events.push(event.event)
    })()
    await expect(reading).rejects.toThrow()
    expect(events.length).toBeLessThan(400)
  })
})
