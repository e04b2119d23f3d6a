import { createClient } from 'graphql-sse'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createToken } from '../../src/store/access/tokens.ts'
import { createService, placedReplicas } from '../support/drivers/apiService.ts'
import type { HandWorker } from '../support/drivers/handWorker.ts'
import { EventStream } from '../support/drivers/sse.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { until } from '../support/fixtures/until.ts'

let server: TestServer
let worker: HandWorker
let url: string
let headers: { authorization: string }
beforeAll(async () => {
  ;({ server, worker } = await TestServer.withWorker())
  url = server.at('/graphql/stream')
  headers = { authorization: `Bearer ${server.client.token}` }
})
afterAll(() => server.stop())

const endpointChanged = `subscription ($service: String!) { endpointChanged(service: { name: $service }) {
  kind endpoint { addresses { index } } added { index }
} }`

const tokenHeader = 'x-graphql-event-stream-token'
const reserve = async () => (await fetch(url, { method: 'PUT', headers })).text()
const operation = (id: string, query = '{ viewer { subject } }') =>
  JSON.stringify({ query, extensions: { operationId: id } })

describe.each([
  ['distinct connections', false],
  ['a single connection', true],
])("graphql-sse's client over %s", (_mode, singleConnection) => {
  const service = singleConnection ? 'single' : 'distinct'

  test('asks, changes and follows', async () => {
    await createService(server.client, service, 1)
    const [replica] = await placedReplicas(server.client, service, 1)
    const client = createClient({ url, singleConnection, headers: () => ({ ...headers }), retryAttempts: 0 })
    const frames = client.iterate<{ endpointChanged: object }>({ query: endpointChanged, variables: { service } })
    expect((await frames.next()).value?.data?.endpointChanged).toMatchObject({ kind: 'SNAPSHOT', added: [] })

    const asked = client.iterate({ query: '{ viewer { subject } }' })
    expect((await asked.next()).value).toEqual({ data: { viewer: { subject: 'admin' } } })
    expect((await asked.next()).done).toBe(true)
    const scale = `mutation ($service: String!) { scaleService(input: { service: { name: $service }, replicas: 2 }) {
      ... on ScaleServicePayload { service { desiredReplicas } }
    } }`
    const changed = client.iterate({ query: scale, variables: { service } })
    expect((await changed.next()).value).toEqual({ data: { scaleService: { service: { desiredReplicas: 2 } } } })
    await changed.return?.()

    await worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready: true })
    expect((await frames.next()).value?.data?.endpointChanged).toMatchObject({ kind: 'DELTA', added: [{ index: 0 }] })
    await frames.return?.()
    client.dispose()
    await until(() => server.app.feed.topics === 0, 'the feed has no topic')
  })

  test('an unknown service is an error with its code', async () => {
    const client = createClient({ url, singleConnection, headers: () => ({ ...headers }), retryAttempts: 0 })
    const frames = client.iterate({ query: endpointChanged, variables: { service: 'unknown' } })
    expect((await frames.next()).value).toMatchObject({ errors: [{ extensions: { code: 'NOT_FOUND' } }] })
    await frames.return?.()
    client.dispose()
  })

  test('an invalid document is an error with its place', async () => {
    const client = createClient({ url, singleConnection, headers: () => ({ ...headers }), retryAttempts: 0 })
    const results = client.iterate({ query: '{ viewer { nonsense } }' })
    expect((await results.next()).value).toMatchObject({
      errors: [{ message: expect.stringContaining('nonsense'), locations: [{ line: 1 }] }],
    })
    await results.return?.()
    client.dispose()
  })

  test('without a token it is refused', async () => {
    const client = createClient({ url, singleConnection, retryAttempts: 0 })
    const frames = client.iterate({ query: endpointChanged, variables: { service } })
    await expect(frames.next()).rejects.toMatchObject({ response: { status: 401 } })
    client.dispose()
  })
})

describe('the single connection mode', () => {
  test('a stream is the caller’s own', async () => {
    const stranger = {
      authorization: `Bearer ${await createToken(server.app.database, { subject: 'stranger', roles: ['admin'] })}`,
    }
    const token = await reserve()
    const open = await fetch(url, { headers: { ...stranger, accept: 'text/event-stream', [tokenHeader]: token } })
    expect(open.status).toBe(403)
    const stream = new AbortController()
    const own = await fetch(url, {
      headers: { ...headers, accept: 'text/event-stream', [tokenHeader]: token },
      signal: stream.signal,
    })
    expect(own.status).toBe(200)
    const sent = await fetch(url, {
      method: 'POST',
      headers: { ...stranger, 'content-type': 'application/json', [tokenHeader]: token },
      body: operation('1'),
    })
    expect(sent.status).toBe(403)
    stream.abort()
  })

  test('an operation for a stream that is not open is refused', async () => {
    const token = await reserve()
    const sent = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', [tokenHeader]: token },
      body: operation('1'),
    })
    expect(sent.status).toBe(404)
  })

  test('an id used again right after its operation was ended is the new operation’s, and so are all events of it', async () => {
    await createService(server.client, 'one', 0)
    await createService(server.client, 'two', 0)
    const followed = (name: string) =>
      `subscription { serviceChanged(service: { name: "${name}" }) { service { name } } }`
    const frameOf = (name: string) => ({
      event: 'next',
      data: { id: 'id "1"', payload: { data: { serviceChanged: { service: { name } } } } },
    })
    const token = await reserve()
    const own = { ...headers, [tokenHeader]: token }
    const stream = await EventStream.request(url, { headers: { ...own, accept: 'text/event-stream' } })
    const send = async (name: string) => {
      const init = { method: 'POST', headers: { ...own, 'content-type': 'application/json' } }
      return (await fetch(url, { ...init, body: operation('id "1"', followed(name)) })).status
    }
    const end = () => fetch(`${url}?operationId=${encodeURIComponent('id "1"')}`, { method: 'DELETE', headers: own })
    for (let time = 0; time < 5; time++) {
      expect(await send('one')).toBe(202)
      expect(await stream.next()).toMatchObject(frameOf('one'))
      expect(await send('one')).toBe(409)
      expect((await end()).status).toBe(200)
      expect(await send('two')).toBe(202)
      expect(await stream.next()).toMatchObject(frameOf('two'))
      expect((await end()).status).toBe(200)
    }
    stream.close()
  })

  test('an operation that is refused leaves its id free, and ends no other', async () => {
    const token = await reserve()
    const own = { ...headers, [tokenHeader]: token }
    const stream = await EventStream.request(url, { headers: { ...own, accept: 'text/event-stream' } })
    const send = async (body: string) =>
      (await fetch(url, { method: 'POST', headers: { ...own, 'content-type': 'application/json' }, body })).status
    expect(await send(operation('living', 'subscription { servicesChanged { kind } }'))).toBe(202)
    expect(await stream.next()).toMatchObject({ event: 'next', data: { id: 'living' } })
    const noQuery = JSON.stringify({ extensions: { operationId: 'refused' } })
    expect([await send(noQuery), await send(noQuery)]).toEqual([400, 400])
    const twoOperations = JSON.stringify({
      query: 'query A { viewer { subject } } query B { viewer { subject } }',
      extensions: { operationId: 'refused' },
    })
    expect(await send(twoOperations)).toBe(202)
    const errors = [{ extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } }]
    expect(await stream.next()).toMatchObject({ event: 'next', data: { id: 'refused', payload: { errors } } })
    expect(await stream.next()).toEqual({ event: 'complete', data: { id: 'refused' } })
    expect(await send(operation('refused'))).toBe(202)
    expect(await stream.next()).toMatchObject({ event: 'next', data: { id: 'refused' } })
    expect(await stream.next()).toEqual({ event: 'complete', data: { id: 'refused' } })
    const byGet = new URLSearchParams({ query: '{ __typename }', extensions: '{"operationId":"refused"}' })
    expect((await fetch(`${url}?${byGet}`, { headers: own })).status).toBe(202)
    const typename = { id: 'refused', payload: { data: { __typename: 'Query' } } }
    expect(await stream.next()).toEqual({ event: 'next', data: typename })
    stream.close()
  })

  test('a body that is too large is refused, whether or not its length is known', async () => {
    const post = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, duplex: 'half' }
    const large = operation('1', `# ${'x'.repeat(2_000_000)}\n{ viewer { subject } }`)
    expect((await fetch(url, { ...post, body: large })).status).toBe(413)
    expect((await fetch(url, { ...post, body: new Blob([large]).stream() } as RequestInit)).status).toBe(413)
  })
})

describe('at /graphql', () => {
  const subscription = 'subscription { servicesChanged { kind } }'
  const mutation = 'mutation { deleteService(input: { service: { name: "unknown" } }) { __typename } }'

  async function ask(query: string, accept: string, init: RequestInit = {}) {
    const stop = new AbortController()
    const response = await fetch(server.url, {
      method: 'POST',
      headers: { ...headers, accept, 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
      signal: stop.signal,
      ...init,
    })
    return { response, stop: () => stop.abort(), type: response.headers.get('content-type')?.split(';', 1)[0] }
  }

  // GraphiQL and graphql-sse; urql for subscriptions; urql for anything; curl.
  const takers = [
    'text/event-stream',
    'text/event-stream, multipart/mixed',
    'application/graphql-response+json, application/json, text/event-stream, multipart/mixed',
    '*/*',
  ]

  test.each(takers)('a subscription is an event stream for who accepts %s', async (accept) => {
    const { response, stop, type } = await ask(subscription, accept)
    expect([response.status, type]).toEqual([200, 'text/event-stream'])
    stop()
    const byGet = await fetch(`${server.url}?${new URLSearchParams({ query: subscription })}`, {
      headers: { ...headers, accept },
      signal: AbortSignal.timeout(10_000),
    })
    expect(byGet.headers.get('content-type')).toContain('text/event-stream')
    await byGet.body?.cancel()
    await until(() => server.app.feed.topics === 0, 'the feed has no topic')
  })

  test('a query is JSON for who accepts both, and an event stream for who accepts nothing else', async () => {
    for (const accept of takers.slice(2)) {
      const { response } = await ask('{ viewer { subject } }', accept)
      expect(await response.json()).toEqual({ data: { viewer: { subject: 'admin' } } })
    }
    const { response } = await ask('{ viewer { subject } }', 'text/event-stream')
    expect(await response.text()).toContain(
      'event: next\ndata: {"data":{"viewer":{"subject":"admin"}}}\n\nevent: complete\n',
    )
  })

  test('who accepts only JSON is told how to subscribe', async () => {
    const { response } = await ask(subscription, 'application/json')
    expect(response.status).toBe(406)
    expect(await response.json()).toMatchObject({ errors: [{ message: expect.stringContaining('text/event-stream') }] })
    expect(server.app.feed.counts.subscribers).toBe(0)
  })

  test('a mutation by GET is refused', async () => {
    const response = await fetch(`${server.url}?${new URLSearchParams({ query: mutation })}`, {
      headers: { ...headers, accept: 'text/event-stream' },
    })
    expect(response.status).toBe(405)
  })

  test('a body of unknown length is taken, up to its bound', async () => {
    for (const accept of takers) {
      const body = (query: string) => ({ body: new Blob([JSON.stringify({ query })]).stream(), duplex: 'half' })
      const { response, stop, type } = await ask('', accept, body(subscription) as RequestInit)
      expect([response.status, type]).toEqual([200, 'text/event-stream'])
      stop()
      const large = await ask('', accept, body(`# ${'x'.repeat(2_000_000)}\n${subscription}`) as RequestInit)
      expect(large.response.status).toBe(413)
    }
  })
})
