import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { acceptedTypes, isNamed } from '../../src/http/acceptHeader.ts'
import { TestServer } from '../support/drivers/testServer.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.stop())

interface Answer {
  readonly status: number | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A request with these headers and no others, as curl sends it. */
async function send(
  method: string,
  headers: Record<string, string> = {},
  body: string | Buffer = '',
  path = '/graphql',
): Promise<Answer> {
  const sent = request(server.at(path), {
    method,
    headers: { authorization: `Bearer ${server.client.token}`, ...headers },
  })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

const json = { 'content-type': 'application/json' }
const viewer = JSON.stringify({ query: '{ viewer { subject } }' })
const answered = '{"data":{"viewer":{"subject":"admin"}}}'
const messageOf = ({ body }: Answer) => (JSON.parse(body) as { errors: { message: string }[] }).errors[0]?.message
const subscription = JSON.stringify({ query: 'subscription { hostsChanged { kind } }' })

describe('the header Accept', () => {
  const offered = ['application/json', 'application/graphql-response+json', 'text/event-stream']
  test.each([
    [undefined, offered],
    ['*/*', offered],
    ['application/json;q=0.5, application/graphql-response+json', [offered[1], offered[0]]],
    ['application/json;q=0, */*', [offered[1], offered[2]]],
    ['*/*;q=0, TEXT/EVENT-STREAM', [offered[2]]],
    ['application/*; q=0.1, text/event-stream;q=0.01', offered],
    ['application/json; charset=iso-8859-1', []],
    ['application/json; charset=UTF-8; q=0.000', []],
    ['text/html', []],
    ['', []],
  ])('%s takes %j', (header, accepted) => {
    expect(acceptedTypes(header, offered)).toEqual(accepted)
  })

  test('names a value, but not at q=0', () => {
    expect(isNamed('br, gzip;q=0.5', 'gzip')).toBe(true)
    expect(isNamed('br, gzip;q=0', 'gzip')).toBe(false)
    expect(isNamed('text/html-like', 'text/html')).toBe(false)
  })

  test.each(['application/json;q=0', 'text/html', 'image/*, application/json; q=0.0'])(
    '%s is 406 with a sentence, and the mutation is not done',
    async (accept) => {
      const query = 'mutation { applyProject(input: { name: "unseen" }) { __typename } }'
      const answer = await send('POST', { ...json, accept }, JSON.stringify({ query }))
      expect(answer.status).toBe(406)
      expect(messageOf(answer)).toMatch(/^The header Accept takes nothing that the server writes: .+\.$/)
      expect(await server.client.ask('{ project(name: "unseen") { name } }')).toEqual({ project: null })
      expect((await send('POST', json, JSON.stringify({ query: query.replace('unseen', 'seen') }))).status).toBe(200)
      expect(await server.client.ask('{ project(name: "seen") { name } }')).toEqual({ project: { name: 'seen' } })
    },
  )

  test('decides between the two types of JSON by its weights', async () => {
    const typeFor = async (accept: string) => (await send('POST', { ...json, accept }, viewer)).headers['content-type']
    expect(await typeFor('application/json;q=0, application/*')).toMatch(/^application\/graphql-response\+json/)
    expect(await typeFor('application/graphql-response+json;q=0.1, application/json')).toMatch(/^application\/json/)
    expect(await typeFor('*/*')).toMatch(/^application\/json/)
  })

  test('that takes only JSON is 406 for a subscription, with a sentence, and none goes on', async () => {
    const answer = await send('POST', { ...json, accept: 'application/json' }, subscription)
    expect(answer.status).toBe(406)
    expect(messageOf(answer)).toContain('text/event-stream')
    expect(server.app.feed.topics).toBe(0)
  })

  test('with text/html;q=0 is no visit of GraphiQL', async () => {
    expect((await send('GET', { accept: 'text/html;q=0, application/json' })).headers['content-type']).toContain('json')
  })
})

describe('a body that the server does not read is 415, and a sentence says what to send:', () => {
  test.each([
    ['gzip', { ...json, 'content-encoding': 'gzip' }, gzipSync(viewer), /encoded as gzip.*without Content-Encoding/],
    ['none', {}, viewer, /no Content-Type: send Content-Type: application\/json/],
    [
      'curl -d',
      { 'content-type': 'application/x-www-form-urlencoded' },
      viewer,
      /x-www-form-urlencoded: send Content-Type: application\/json/,
    ],
    [
      'text',
      { 'content-type': 'text/plain;charset=UTF-8' },
      viewer,
      /text\/plain: send Content-Type: application\/json/,
    ],
    ['UTF-16', { 'content-type': 'application/json; charset=utf-16' }, viewer, /charset is utf-16: send it as UTF-8/],
  ])('%s', async (_what, headers, body, sentence) => {
    for (const path of ['/graphql', '/graphql/stream']) {
      const answer = await send('POST', headers, body, path)
      expect(answer).toMatchObject({ status: 415, headers: { 'content-type': 'application/json; charset=utf-8' } })
      expect(messageOf(answer)).toMatch(sentence)
    }
  })

  test('and what it reads is answered', async () => {
    for (const type of ['application/json', 'Application/JSON; charset="utf-8"', 'application/graphql+json'])
      expect(await send('POST', { 'content-type': type, 'content-encoding': 'identity' }, viewer)).toMatchObject({
        status: 200,
        body: answered,
      })
    const graphql = { 'content-type': 'application/graphql' }
    expect(await send('POST', graphql, '{ viewer { subject } }')).toMatchObject({ status: 200, body: answered })
  })
})

describe('methods', () => {
  test.each([
    ['/graphql', 'GET, HEAD, POST, OPTIONS'],
    ['/worker', 'POST, OPTIONS'],
    ['/graphql/stream', 'GET, POST, PUT, DELETE, OPTIONS'],
    ['/healthz', 'GET, HEAD, OPTIONS'],
    ['/metrics', 'GET, HEAD, OPTIONS'],
  ])('OPTIONS of %s needs no token, and says %s', async (path, allow) => {
    const answer = await send('OPTIONS', { authorization: 'Bearer nonsense' }, '', path)
    expect(answer).toMatchObject({ status: 204, headers: { allow }, body: '' })
  })

  test('another one is 405, with a sentence', async () => {
    for (const path of ['/graphql', '/graphql/stream']) {
      const answer = await send('PATCH', json, viewer, path)
      expect(answer).toMatchObject({ status: 405, headers: { allow: expect.stringContaining('GET, POST') } })
      expect(messageOf(answer)).toMatch(/^PATCH is not answered here/)
    }
  })
})

test.each([
  ['POST', { ...json, accept: 'text/html' }, '', 406, 'text/event-stream'],
  ['POST', { ...json, accept: 'application/json' }, '', 406, 'text/event-stream'],
  ['POST', { ...json, 'x-graphql-event-stream-token': 'of-another' }, '', 404, 'not open'],
  ['PUT', { accept: 'application/json' }, '', 406, 'text/event-stream'],
  ['GET', { accept: 'text/event-stream, */*;q=0' }, '', 400, 'query'],
  ['DELETE', {}, '?operationId=1', 404, 'Stream not found'],
  ['DELETE', { accept: 'text/event-stream' }, '', 404, 'Stream not found'],
])('event streams refuse no request without a word: %s %j%s', async (method, headers, search, status, word) => {
  const answer = await send(method, headers, method === 'POST' ? subscription : '', `/graphql/stream${search}`)
  expect(answer.status).toBe(status)
  expect(messageOf(answer)).toContain(word)
})

test('a bare document (application/graphql) is taken for a subscription too', async () => {
  const sent = request(server.url, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.client.token}`, 'content-type': 'application/graphql', accept: '*/*' },
  })
  sent.end('subscription { hostsChanged { kind } }')
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  expect(response.headers['content-type']).toContain('text/event-stream')
  sent.destroy()
})

test('an upgrade at another path is told where WebSockets are', async () => {
  const socket = new WebSocket(server.at('/elsewhere').replace(/^http/, 'ws'))
  socket.on('error', () => undefined)
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage]
  expect([response.statusCode, await text(response)]).toEqual([
    404,
    'There is no WebSocket here: GraphQL over a WebSocket is at /graphql, and the protocol of workers at /worker.\n',
  ])
})
