import { createClient } from 'graphql-sse'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createToken } from '../../src/store/access/tokens.ts'
import { createService, placedReplicas } from '../support/drivers/apiService.ts'
import type { HandWorker } from '../support/drivers/handWorker.ts'
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

const endpointChanged = `subscription ($service: String!) { endpointChanged(service: $service) {
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

  test('a body that is too large, or of unknown length, is not read', async () => {
    const post = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } }
    expect(
      (await fetch(url, { ...post, body: operation('1', `# ${'x'.repeat(2_000_000)}\n{ viewer { subject } }`) }))
        .status,
    ).toBe(413)
    const chunks = new Blob([operation('1')]).stream()
    expect((await fetch(url, { ...post, body: chunks, duplex: 'half' } as RequestInit)).status).toBe(411)
  })
})
