import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { errorCodes } from '../../src/graphql/kit/errorCodes.ts'
import { HandSocket } from '../support/drivers/handSocket.ts'
import { EventStream } from '../support/drivers/sse.ts'
import { TestServer } from '../support/drivers/testServer.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.stop())

const scale =
  'mutation ($replicas: Int!) { scaleService(input: { service: { name: "g" }, replicas: $replicas }) { __typename } }'
const follow = 'subscription ($name: String!) { serviceChanged(service: { name: $name }) { kind } }'

/** The mistakes that GraphQL finds before an operation begins, and their codes. */
const mistakes = [
  ['a document that is not GraphQL', 'GRAPHQL_PARSE_FAILED', { query: '{ viewer {' }],
  ['a document nested too deeply', 'GRAPHQL_PARSE_FAILED', { query: '{ a '.repeat(100_000) }],
  ['an unknown field', 'GRAPHQL_VALIDATION_FAILED', { query: '{ nothing }' }],
  ['an unknown subscription', 'GRAPHQL_VALIDATION_FAILED', { query: 'subscription { nothing }' }],
  ['an unknown operation', 'OPERATION_RESOLUTION_FAILURE', { query: 'query a { __typename }', operationName: 'b' }],
  ['no name for two', 'OPERATION_RESOLUTION_FAILURE', { query: 'query a { __typename } query b { __typename }' }],
  ['a variable of another type', 'BAD_USER_INPUT', { query: scale, variables: { replicas: '3' } }],
  ['a missing variable', 'BAD_USER_INPUT', { query: scale }],
  ['a missing variable of a subscription', 'BAD_USER_INPUT', { query: follow }],
] as const

const coded = (code: string) => [{ message: expect.any(String), extensions: { code } }]

async function post(body: string, headers: Record<string, string> = {}, method = 'POST') {
  const response = await fetch(server.url, {
    method,
    headers: { authorization: `Bearer ${server.client.token}`, 'content-type': 'application/json', ...headers },
    ...(method === 'POST' ? { body } : {}),
  })
  return { status: response.status, body: (await response.json()) as { errors?: unknown; data?: unknown } }
}

describe.each(mistakes)('%s has the code %s', (_what, code, payload) => {
  test('over HTTP, with the statuses of both media types', async () => {
    const isSubscription = payload.query === follow
    const modern = await post(JSON.stringify(payload), { accept: 'application/graphql-response+json' })
    // Only event streams answer a subscription, whatever its variables are.
    const expected = isSubscription ? 'NOT_ACCEPTABLE' : code
    expect(modern.body.errors).toMatchObject(coded(expected))
    expect(modern.status).toBe(errorCodes[expected].status)
    expect(modern.body).not.toHaveProperty('data')
    const plain = await post(JSON.stringify(payload), { accept: 'application/json' })
    expect(plain.body.errors).toMatchObject(coded(expected))
    // Without an operation nothing could be executed, so this is a 400 in both media types.
    const hasStatus = isSubscription || code === 'OPERATION_RESOLUTION_FAILURE'
    expect(plain.status).toBe(hasStatus ? errorCodes[expected].status : 200)
  })

  test.each(['/graphql', '/graphql/stream'])('as an event stream of %s', async (path) => {
    const stream = await EventStream.request(server.at(path), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${server.client.token}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify(payload),
    })
    expect((await stream.next())?.data).toMatchObject({ errors: coded(code) })
  })

  test('over a WebSocket, without words about HTTP', async () => {
    const socket = await HandSocket.open(server.client)
    socket.send({ id: 'one', type: 'subscribe', payload })
    const answer = await socket.next('one')
    const errors = answer.type === 'error' ? answer.payload : (answer.payload as { errors: unknown }).errors
    expect(errors).toMatchObject(coded(code))
    expect(JSON.stringify(errors)).not.toContain('"http"')
    socket.close()
  })
})

test.each([
  ['no query', 'BAD_REQUEST', () => post('{}')],
  ['a query that is not text', 'BAD_REQUEST', () => post('{"query": 1}')],
  ['variables that are not an object', 'BAD_REQUEST', () => post('{"query": "{ __typename }", "variables": 1}')],
  ['a body that is not JSON', 'BAD_REQUEST', () => post('{')],
  ['many operations at once', 'BAD_REQUEST', () => post('[{"query": "{ __typename }"}]')],
  [
    'a persisted id',
    'BAD_REQUEST',
    () => post('{"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "a"}}}'),
  ],
  ['another method', 'METHOD_NOT_ALLOWED', () => post('', {}, 'PATCH')],
  ['another type of body', 'UNSUPPORTED_MEDIA_TYPE', () => post('{}', { 'content-type': 'text/plain' })],
  ['another form of answer', 'NOT_ACCEPTABLE', () => post('{}', { accept: 'text/html' })],
  ['an unknown token', 'UNAUTHENTICATED', () => post('{"query": "{ __typename }"}', { authorization: 'Bearer no' })],
  ['a large body', 'PAYLOAD_TOO_LARGE', () => post(JSON.stringify({ query: `#${'x'.repeat(6_000_000)}` }))],
] as const)('%s is refused with %s and its status', async (_what, code, send) => {
  const { status, body } = await send()
  expect(body.errors).toMatchObject(coded(code))
  expect(status).toBe(errorCodes[code].status)
})
