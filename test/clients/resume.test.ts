import { ApolloClient, gql, InMemoryCache } from '@apollo/client'
import { GraphQLWsLink } from '@apollo/client/link/subscriptions'
import { subscriptionExchange, Client as Urql } from '@urql/core'
import { type Client, createClient } from 'graphql-ws/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createService, placedReplicas } from '../support/drivers/apiService.ts'
import type { HandWorker } from '../support/drivers/handWorker.ts'
import { type TcpProxy, tcpProxy } from '../support/drivers/tcpProxy.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { until } from '../support/fixtures/until.ts'
import { resuming } from './resuming.ts'

let server: TestServer
let worker: HandWorker
let proxy: TcpProxy
beforeAll(async () => {
  ;({ server, worker } = await TestServer.withWorker())
  proxy = await tcpProxy({ host: '127.0.0.1', port: Number(new URL(server.url).port) })
})
afterAll(async () => {
  await proxy.close()
  await server.stop()
})

interface Frame {
  readonly kind: string
  readonly endpoint: { readonly addresses: readonly { readonly index: number }[] } | null
  readonly added: readonly { readonly index: number }[]
}

interface Data {
  readonly endpointChanged: Frame
}

const document = `subscription Endpoint($service: String!, $after: Revision) {
  endpointChanged(service: { name: $service }, after: $after) { kind revision endpoint { addresses { index } } added { index } }
}`

/** Follows by a client that stands on graphql-ws' one; gives what stops it. */
type Follow = (socket: Client, variables: { service: string }, next: (data: Data) => void) => () => void

const fails = (error: unknown) => {
  throw error
}

const clients: Record<string, Follow> = {
  'graphql-ws': (socket, variables, next) =>
    socket.subscribe<Data>(
      { query: document, variables },
      { next: ({ data }) => data && next(data as Data), error: fails, complete: () => undefined },
    ),
  'Apollo Client': (socket, variables, next) => {
    const client = new ApolloClient({ cache: new InMemoryCache(), link: new GraphQLWsLink(socket) })
    const subscription = client
      .subscribe<Data>({ query: gql(document), variables })
      .subscribe(({ data }) => data && next(data as Data))
    return () => subscription.unsubscribe()
  },
  urql: (socket, variables, next) => {
    const forward = subscriptionExchange({
      forwardSubscription: ({ query, variables }) => ({
        subscribe: (sink) => ({
          unsubscribe: socket.subscribe(
            { query: query ?? '', variables: variables as Record<string, unknown> },
            sink as Parameters<Client['subscribe']>[1],
          ),
        }),
      }),
    })
    const client = new Urql({ url: server.url, preferGetMethod: false, exchanges: [forward] })
    return client
      .subscription<Data>(document, variables)
      .subscribe(({ data, error }) => (error ? fails(error) : data && next(data))).unsubscribe
  },
}

test.each(Object.entries(clients))(
  '%s comes back with what it missed, and no second snapshot',
  async (name, follow) => {
    const service = name.toLowerCase().replace(' ', '-')
    await createService(server.client, service, 2)
    const [first, second] = await placedReplicas(server.client, service, 2)

    let comeBack: () => void = () => undefined
    const away = new Promise<void>((resolve) => {
      comeBack = resolve
    })
    let connections = 0
    const socket = createClient({
      url: `ws://127.0.0.1:${proxy.port}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${server.client.token}` },
      retryAttempts: Number.POSITIVE_INFINITY,
      shouldRetry: () => true,
      retryWait: () => away,
      on: { connected: () => connections++ },
    })
    const frames: Frame[] = []
    const stop = follow(resuming(socket), { service }, ({ endpointChanged }) => {
      if (endpointChanged.kind !== 'BOOKMARK') frames.push(endpointChanged)
    })
    await until(() => frames.length === 1, 'the first frame')
    await worker.report({ replica: first?.id ?? '', state: 'RUNNING', ready: true })
    await until(() => frames.length === 2, 'the first replica is in the table')

    proxy.cut()
    await worker.report({ replica: second?.id ?? '', state: 'RUNNING', ready: true })
    comeBack()
    await until(() => frames.length === 3, 'the second replica is in the table')
    expect(connections).toBe(2)
    expect(frames.map(({ kind, added }) => [kind, ...added.map(({ index }) => index)])).toEqual([
      ['SNAPSHOT'],
      ['DELTA', 0],
      ['DELTA', 1],
    ])
    expect(frames[2]?.endpoint?.addresses.map(({ index }) => index).toSorted()).toEqual([0, 1])

    stop()
    await socket.dispose()
    await until(() => server.app.feed.topics === 0, 'the feed has no topic')
  },
)
