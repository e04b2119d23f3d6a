import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createToken } from '../../src/store/access/tokens.ts'
import { ApiClient } from '../support/drivers/apiClient.ts'
import { createService, placedReplicas } from '../support/drivers/apiService.ts'
import type { HandWorker } from '../support/drivers/handWorker.ts'
import { EventStream } from '../support/drivers/sse.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { until } from '../support/fixtures/until.ts'
import { Subscriber } from './subscriber.ts'

let server: TestServer
let worker: HandWorker
const subscribers: Subscriber[] = []
beforeAll(async () => {
  ;({ server, worker } = await TestServer.withWorker())
})
afterEach(async () => {
  for (const subscriber of subscribers.splice(0)) await subscriber.close()
  const { feed, sessions } = server.app
  const left = () => [feed.topics, feed.counts.subscribers, feed.groups.size, feed.counts.groups, sessions.open]
  await until(() => left().every((count) => count === 0), 'nothing is left in the feed')
})
afterAll(() => server.stop())

const document = `subscription ($service: String!, $after: Revision) { endpointChanged(service: { name: $service }, after: $after) {
  kind revision endpoint { addresses { hostPort } } added { id hostPort } removed { id }
} }`

async function open(client = server.client): Promise<Subscriber> {
  const subscriber = await Subscriber.open(client)
  subscribers.push(subscriber)
  return subscriber
}

async function replicaOf(name: string): Promise<(ready: boolean) => Promise<unknown>> {
  await createService(server.client, name, 1, { readiness: { tcp: { port: 'http' }, periodSeconds: 1 } })
  const [replica] = await placedReplicas(server.client, name, 1)
  return (ready) => worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready })
}

describe('alike subscriptions', () => {
  test('of 1,000 subscribers are executed once per change, with the same bytes for all', async () => {
    const report = await replicaOf('many')
    const sockets = await Promise.all(Array.from({ length: 20 }, () => open()))
    const raw: string[] = []
    for (const { socket } of sockets) {
      socket.on('message', (data) => void raw.push(String(data)))
      for (let id = 0; id < 50; id++) {
        socket.send(
          JSON.stringify({
            id: `op${id}`,
            type: 'subscribe',
            payload: { query: document, variables: { service: 'many' } },
          }),
        )
      }
    }
    await until(() => raw.length === 1_000, 'each has its SNAPSHOT')
    const { counts } = server.app.feed
    expect(server.app.feed.groups.size).toBe(1)
    // A crowd that comes at once shares its SNAPSHOTs as well.
    expect(counts.catchUpFrames).toBeLessThan(200)
    for (let change = 1; change <= 5; change++) {
      raw.length = 0
      const made = counts.groupFrames
      await report(change % 2 === 1)
      await until(() => raw.length === 1_000, 'each has the change')
      expect(counts.groupFrames).toBe(made + 1)
      expect(new Set(raw.map((text) => text.replace(/"id":"op\d+"/, ''))).size).toBe(1)
    }
  })

  test('share also with other `after`, other order of variables and server-sent events', async () => {
    const report = await replicaOf('shared')
    const { head } = await server.app.database.prisma.feed.findUniqueOrThrow({ where: { id: 1 } })
    const subscriber = await open()
    subscriber.subscribe(document, { service: 'shared' }, 'a')
    await subscriber.frame('a')
    subscriber.subscribe(document, { after: String(head), service: 'shared' }, 'b')
    const events = await EventStream.open(server.client, document, { service: 'shared', after: null })
    await events.next()
    await until(() => server.app.feed.counts.subscribers === 3, 'all three have joined')
    expect(server.app.feed.groups.size).toBe(1)
    const made = server.app.feed.counts.groupFrames
    await report(true)
    const frame = await subscriber.frame('a')
    expect(await subscriber.frame('b')).toEqual(frame)
    expect(await events.next()).toMatchObject({ data: { data: { endpointChanged: frame } } })
    expect(server.app.feed.counts.groupFrames).toBe(made + 1)
    events.close()
  })

  test('do not share with another document, other variables or another scope', async () => {
    await replicaOf('apart')
    const other = new ApiClient(
      server.url,
      await createToken(server.app.database, { subject: 'other', roles: ['admin', 'metrics'] }),
    )
    const same = new ApiClient(
      server.url,
      await createToken(server.app.database, { subject: 'same', roles: ['admin'] }),
    )
    const one = await open()
    one.subscribe(document, { service: 'apart' })
    await one.frame()
    const groups = () => server.app.feed.groups.size
    const two = await open(same)
    two.subscribe(document, { service: 'apart' })
    await two.frame()
    expect(groups()).toBe(1)
    two.subscribe(`${document} `, { service: 'apart' }, 'document')
    await two.frame('document')
    expect(groups()).toBe(2)
    two.subscribe(
      document.replace('{ name: $service }', '{ name: $service }, includeNotReady: true'),
      { service: 'apart' },
      'literal',
    )
    await two.frame('literal')
    expect(groups()).toBe(3)
    const three = await open(other)
    three.subscribe(document, { service: 'apart' })
    await three.frame()
    expect(groups()).toBe(4)
  })
})

describe('a token that is taken away', () => {
  test('cuts its subscriptions with FORBIDDEN before the next frame, and its socket; others go on', async () => {
    const report = await replicaOf('secret')
    const { database, feed } = server.app
    const token = await createToken(database, { subject: 'leaver', roles: ['admin'] })
    const leaver = await open(new ApiClient(server.url, token))
    const events = await EventStream.open(new ApiClient(server.url, token), document, { service: 'secret' })
    const stayer = await open()
    leaver.subscribe(document, { service: 'secret' })
    stayer.subscribe(document, { service: 'secret' })
    expect([(await leaver.frame()).kind, (await stayer.frame()).kind]).toEqual(['SNAPSHOT', 'SNAPSHOT'])
    await events.next()
    const cut = feed.counts.cut
    await database.prisma.token.deleteMany({ where: { subject: 'leaver' } })
    await report(true)
    expect(await leaver.errorCode()).toBe('FORBIDDEN')
    expect(await leaver.next()).toMatchObject({ type: 'complete' })
    expect(await until(() => leaver.closed, 'the socket is closed')).toMatchObject({ code: 4403 })
    expect(await events.next()).toMatchObject({ data: { errors: [{ extensions: { code: 'FORBIDDEN' } }] } })
    expect(await stayer.frame()).toMatchObject({ kind: 'DELTA', added: [{}] })
    expect(feed.counts.cut).toBe(cut + 2)
    events.close()
  })

  test('cuts also without a next frame, and when it only loses a role', async () => {
    await replicaOf('roles')
    const { database } = server.app
    const leaver = await open(
      new ApiClient(server.url, await createToken(database, { subject: 'demoted', roles: ['admin'] })),
    )
    leaver.subscribe(document, { service: 'roles' })
    await leaver.frame()
    await database.prisma.token.updateMany({ where: { subject: 'demoted' }, data: { roles: ['worker'] } })
    expect(await leaver.errorCode()).toBe('FORBIDDEN')
    expect(await until(() => leaver.closed, 'the socket is closed')).toMatchObject({ code: 4403 })
  })
})
