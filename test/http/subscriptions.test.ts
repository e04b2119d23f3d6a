import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createService, placedReplicas, remove, scale } from '../support/drivers/apiService.ts'
import type { HandWorker } from '../support/drivers/handWorker.ts'
import { EventStream } from '../support/drivers/sse.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { until } from '../support/fixtures/until.ts'

let server: TestServer
let worker: HandWorker
beforeAll(async () => {
  ;({ server, worker } = await TestServer.withWorker())
})
afterAll(() => server.stop())

const endpointChanged = `subscription ($service: String!) { endpointChanged(service: { name: $service }) {
  kind revision endpoint { addresses { hostPort index } } added { index } removed { index }
} }`
const serviceChanged =
  'subscription ($name: String!) { serviceChanged(service: { name: $name }) { kind revision service { desiredReplicas status } } }'
const replicasChanged = `subscription ($service: String!) { replicasChanged(service: { name: $service }) {
  kind last replicas { id index state endReason } removedIds
} }`

const noListenerLeft = () => until(() => server.app.feed.topics === 0, 'the feed has no topic')

describe('over a WebSocket', () => {
  test('endpointChanged follows the table', async () => {
    await createService(server.client, 'table', 1)
    const [replica] = await placedReplicas(server.client, 'table', 1)
    const frames = server.client.socket().iterate<{ endpointChanged: Record<string, unknown> }>({
      query: endpointChanged,
      variables: { service: 'table' },
    })
    expect((await frames.next()).value?.data?.endpointChanged).toMatchObject({
      kind: 'SNAPSHOT',
      endpoint: { addresses: [] },
    })
    await worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready: true })
    expect((await frames.next()).value?.data?.endpointChanged).toMatchObject({
      kind: 'DELTA',
      endpoint: { addresses: [{ index: 0, hostPort: expect.stringMatching(/^127\.0\.0\.1:\d+$/) }] },
      added: [{ index: 0 }],
      removed: [],
    })
    await frames.return?.()
    await noListenerLeft()
  })

  test('serviceChanged shows the service as it is now, in each frame anew', async () => {
    await createService(server.client, 'scaled', 1)
    const frames = server.client
      .socket()
      .iterate<{ serviceChanged: { kind: string; service: { desiredReplicas: number } | null } }>({
        query: serviceChanged,
        variables: { name: 'scaled' },
      })
    expect((await frames.next()).value?.data?.serviceChanged).toMatchObject({
      kind: 'SNAPSHOT',
      service: { desiredReplicas: 1 },
    })
    await scale(server.client, 'scaled', 3)
    await until(async () => {
      const { value } = await frames.next()
      return value?.data?.serviceChanged.service?.desiredReplicas === 3
    }, 'a frame shows 3 replicas')
    await frames.return?.()
    await noListenerLeft()
  })

  test('replicasChanged shows new replicas, and those that ended a last time; GONE ends it', async () => {
    await createService(server.client, 'parts', 2)
    const [one, two] = await placedReplicas(server.client, 'parts', 2)
    const frames = server.client
      .socket()
      .iterate<{ replicasChanged: { kind: string; replicas: { id: string }[]; removedIds: string[] } }>({
        query: replicasChanged,
        variables: { service: 'parts' },
      })
    const first = (await frames.next()).value?.data?.replicasChanged
    expect(first).toMatchObject({ kind: 'SNAPSHOT', last: true, removedIds: [] })
    expect(first?.replicas.map((replica: { id: string }) => replica.id).toSorted()).toEqual(
      [one?.id, two?.id].toSorted(),
    )
    await remove(server.client, 'parts')
    await worker.report(
      { replica: one?.id ?? '', state: 'ENDED', endReason: 'STOPPED' },
      { replica: two?.id ?? '', state: 'ENDED', endReason: 'STOPPED' },
    )
    const kinds: string[] = []
    for await (const { data } of frames) kinds.push(data?.replicasChanged.kind ?? '')
    expect(kinds.at(-1)).toBe('GONE')
    await noListenerLeft()
  })

  test('an unknown service is a top-level error with the code NOT_FOUND', async () => {
    const frames = server.client.socket().iterate({ query: endpointChanged, variables: { service: 'unknown' } })
    expect((await frames.next()).value?.errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }])
  })

  test('sockets that break leave no listener', async () => {
    await createService(server.client, 'broken', 0)
    const sockets = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const socket = new WebSocket(server.url.replace(/^http/, 'ws'), 'graphql-transport-ws')
        await once(socket, 'open')
        socket.send(
          JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${server.client.token}` } }),
        )
        await once(socket, 'message')
        const payload = { query: endpointChanged, variables: { service: 'broken' } }
        const first = once(socket, 'message').catch(() => undefined)
        socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload }))
        return { socket, first }
      }),
    )
    // Some are cut before their subscription has begun, some after.
    for (const { socket } of sockets.slice(0, 10)) socket.terminate()
    await Promise.all(sockets.slice(10).map(({ first }) => first))
    for (const { socket } of sockets.slice(10)) socket.terminate()
    await noListenerLeft()
  })
})

describe('over server-sent events', () => {
  test('endpointChanged follows the table, and a reader that goes leaves no listener', async () => {
    await createService(server.client, 'events', 1)
    const [replica] = await placedReplicas(server.client, 'events', 1)
    const stream = await EventStream.open(server.client, endpointChanged, { service: 'events' })
    expect(await stream.next()).toMatchObject({
      event: 'next',
      data: { data: { endpointChanged: { kind: 'SNAPSHOT', added: [] } } },
    })
    await worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready: true })
    expect(await stream.next()).toMatchObject({
      event: 'next',
      data: { data: { endpointChanged: { kind: 'DELTA', added: [{ index: 0 }] } } },
    })
    stream.close()
    await noListenerLeft()
  })

  test('an unknown service is a top-level error with the code NOT_FOUND', async () => {
    const stream = await EventStream.open(server.client, endpointChanged, { service: 'unknown' })
    expect(await stream.next()).toMatchObject({ data: { errors: [{ extensions: { code: 'NOT_FOUND' } }] } })
    stream.close()
  })
})
