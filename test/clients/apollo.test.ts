import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client'
import { GraphQLWsLink } from '@apollo/client/link/subscriptions'
import { OperationTypeNode } from 'graphql'
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

test('Apollo Client asks, changes and follows, and its cache stays right by the frames alone', async () => {
  await createService(server.client, 'apollo', 1)
  const [replica] = await placedReplicas(server.client, 'apollo', 1)
  const requests: string[] = []
  const client = new ApolloClient({
    cache: new InMemoryCache(),
    link: ApolloLink.split(
      ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
      new GraphQLWsLink(server.client.socket()),
      ApolloLink.from([
        new ApolloLink((operation, forward) => {
          requests.push(operation.operationName ?? '')
          return forward(operation)
        }),
        new HttpLink({ uri: server.url, headers: { authorization: `Bearer ${server.client.token}` } }),
      ]),
    ),
  })
  const variables = { service: 'apollo' }
  let shown: Partial<Page['service']> | undefined
  const watched = client.watchQuery<Page>({ query: gql(page), variables }).subscribe(({ data }) => {
    shown = data?.service as Page['service'] | undefined
  })
  await until(() => shown?.desiredReplicas === 1, 'the query is answered')
  expect(shown).toMatchObject({
    readyReplicas: 0,
    endpoint: { addresses: [] },
    replicas: { nodes: [{ id: replica?.id, ready: false }] },
  })

  const kinds: string[] = []
  const followed = [endpointChanged, serviceChanged, replicasChanged].map((document) =>
    client
      .subscribe<Record<string, { kind: string }>>({ query: gql(document), variables })
      .subscribe(({ data, error }) => {
        if (error) throw error
        kinds.push(...Object.values(data ?? {}).map(({ kind }) => kind))
      }),
  )
  await until(() => kinds.length === 3, 'each subscription has its first frame')
  expect(kinds).toEqual(['SNAPSHOT', 'SNAPSHOT', 'SNAPSHOT'])

  await worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready: true })
  await until(
    () =>
      shown?.readyReplicas === 1 && shown.endpoint?.addresses.length === 1 && shown.replicas?.nodes[0]?.ready === true,
    'service, endpoint and replica show readiness',
  )
  expect(shown?.replicas?.nodes[0]).toMatchObject({ state: 'RUNNING' })

  const { data } = await client.mutate<Scaled>({
    mutation: gql(scaleService),
    variables: { ...variables, replicas: 2 },
  })
  expect(data?.scaleService.service?.desiredReplicas).toBe(2)
  await until(() => shown?.desiredReplicas === 2, 'the watched query shows the answer to the mutation')
  expect(requests).toEqual(['Page', 'Scale'])

  for (const subscription of [watched, ...followed]) subscription.unsubscribe()
  client.stop()
  await until(() => server.app.feed.topics === 0, 'the feed has no topic')
})

test("with the server's possibleTypes Apollo Client keeps the message of an error, and without them it loses it", async () => {
  const possibleTypes = (await (await fetch(server.at('/possibleTypes.json'))).json()) as Record<string, string[]>
  const mutation = gql(
    'mutation { deleteService(input: { service: { name: "missing" } }) { __typename ... on Error { message } } }',
  )
  const answered = async (cache: InMemoryCache) => {
    const link = new HttpLink({ uri: server.url, headers: { authorization: `Bearer ${server.client.token}` } })
    const { data } = await new ApolloClient({ cache, link }).mutate<{ deleteService: object }>({ mutation })
    return data?.deleteService
  }
  expect(await answered(new InMemoryCache())).toEqual({ __typename: 'NotFoundError' })
  expect(await answered(new InMemoryCache({ possibleTypes }))).toEqual({
    __typename: 'NotFoundError',
    message: expect.stringContaining('There is no service "missing"'),
  })
})
