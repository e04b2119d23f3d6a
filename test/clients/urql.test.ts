import { Client, fetchExchange, subscriptionExchange } from '@urql/core'
import { cacheExchange } from '@urql/exchange-graphcache'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createService, placedReplicas } from '../support/drivers/apiService.ts'
import type { HandWorker } from '../support/drivers/handWorker.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { until } from '../support/fixtures/until.ts'
import {
  endpointChanged,
  type Page,
  page,
  replicasChanged,
  type Scaled,
  scaleService,
  serviceChanged,
} from './documents.ts'

let server: TestServer
let worker: HandWorker
beforeAll(async () => {
  ;({ server, worker } = await TestServer.withWorker())
})
afterAll(() => server.stop())

test('urql asks, changes and follows, and its normalised cache stays right by the frames alone', async () => {
  await createService(server.client, 'urql', 1)
  const [replica] = await placedReplicas(server.client, 'urql', 1)
  const socket = server.client.socket()
  const requests: string[] = []
  const client = new Client({
    url: server.url,
    preferGetMethod: false,
    fetchOptions: { headers: { authorization: `Bearer ${server.client.token}` } },
    fetch: (input, init) => {
      requests.push((JSON.parse(String(init?.body)) as { operationName: string }).operationName)
      return fetch(input, init)
    },
    exchanges: [
      // Frames are values, not entities: only what they carry has an id.
      cacheExchange({
        keys: {
          EndpointChange: () => null,
          ServiceChange: () => null,
          ReplicaChange: () => null,
          ScaleServicePayload: () => null,
        },
      }),
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query, variables }) => ({
          subscribe: (sink) => ({
            unsubscribe: socket.subscribe(
              { query: query ?? '', variables: variables as Record<string, unknown> },
              sink as Parameters<typeof socket.subscribe>[1],
            ),
          }),
        }),
      }),
    ],
  })
  const variables = { service: 'urql' }
  let shown: Page['service'] | undefined
  const watched = client.query<Page>(page, variables).subscribe(({ data, error }) => {
    if (error) throw error
    shown = data?.service
  })
  await until(() => shown?.desiredReplicas === 1, 'the query is answered')
  expect(shown).toMatchObject({
    readyReplicas: 0,
    endpoint: { addresses: [] },
    replicas: { nodes: [{ id: replica?.id, ready: false }] },
  })

  const kinds: string[] = []
  const followed = [endpointChanged, serviceChanged, replicasChanged].map((document) =>
    client.subscription<Record<string, { kind: string }>>(document, variables).subscribe(({ data, error }) => {
      if (error) throw error
      kinds.push(...Object.values(data ?? {}).map(({ kind }) => kind))
    }),
  )
  await until(() => kinds.length === 3, 'each subscription has its first frame')
  expect(kinds).toEqual(['SNAPSHOT', 'SNAPSHOT', 'SNAPSHOT'])

  await worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready: true })
  await until(
    () =>
      shown?.readyReplicas === 1 && shown.endpoint.addresses.length === 1 && shown.replicas.nodes[0]?.ready === true,
    'service, endpoint and replica show readiness',
  )
  expect(shown?.replicas.nodes[0]).toMatchObject({ state: 'RUNNING' })

  const { data } = await client.mutation<Scaled>(scaleService, { ...variables, replicas: 2 }).toPromise()
  expect(data?.scaleService.service?.desiredReplicas).toBe(2)
  await until(() => shown?.desiredReplicas === 2, 'the watched query shows the answer to the mutation')
  expect(requests).toEqual(['Page', 'Scale'])

  for (const subscription of [watched, ...followed]) subscription.unsubscribe()
  await until(() => server.app.feed.topics === 0, 'the feed has no topic')
})
