import { once } from 'node:events'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { TestServer } from '../support/drivers/testServer.ts'

const logged: Record<string, unknown>[] = []
const log = pino({ level: 'error' }, { write: (line: string) => logged.push(JSON.parse(line)) })
let server: TestServer
beforeAll(async () => {
  server = await TestServer.start(log)
})
afterAll(() => server.stop())

const post = (body: string, headers: Record<string, string> = {}) =>
  fetch(server.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${server.client.token}`, ...headers },
    body,
  })

function openSocket(protocol: string | undefined = 'graphql-transport-ws'): WebSocket {
  return new WebSocket(server.url.replace(/^http/, 'ws'), protocol)
}

describe('over HTTP', () => {
  test('a body of 10 MB is refused with 413', async () => {
    const response = await post(JSON.stringify({ query: `# ${'x'.repeat(10_000_000)}\n{ viewer { subject } }` }))
    expect(response.status).toBe(413)
  })

  test('invalid JSON is 400 with a message', async () => {
    const response = await post('{"query": ')
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ errors: [{ message: expect.stringContaining('JSON') }] })
  })

  test('a malformed document is an error with its place', async () => {
    const { data, errors } = await server.client.send('{ viewer {')
    expect(data).toBeNull()
    expect(errors).toMatchObject([{ message: expect.stringContaining('Syntax Error'), locations: [{ line: 1 }] }])
  })

  test('an unknown field is an error that names it', async () => {
    const { errors } = await server.client.send('{ viewer { nonsense } }')
    expect(errors).toMatchObject([{ message: expect.stringContaining('nonsense') }])
  })

  test('a mutation by GET is refused', async () => {
    const query = new URLSearchParams({
      query: 'mutation { deleteService(input: { service: { name: "a" } }) { __typename } }',
    })
    const response = await fetch(`${server.url}?${query}`, {
      headers: { authorization: `Bearer ${server.client.token}` },
    })
    expect(response.status).toBe(405)
  })

  test('a fault of the server shows an id and nothing else; the log has the cause under that id', async () => {
    const { database } = server.app
    await database.prisma.$executeRaw`ALTER TABLE "Queue" RENAME TO "Elsewhere"`
    try {
      const { errors } = await server.client.send('{ queues { nodes { name } } }')
      const [error] = errors
      expect(error?.extensions?.code).toBe('INTERNAL_SERVER_ERROR')
      expect(error?.message).not.toMatch(/queue|table|prisma/i)
      const entry = logged.find((line) => line['errorId'] === error?.extensions?.errorId)
      expect(JSON.stringify(entry)).toContain('Queue')
    } finally {
      await database.prisma.$executeRaw`ALTER TABLE "Elsewhere" RENAME TO "Queue"`
    }
  })
})

describe('over a WebSocket', () => {
  test('one that never sends connection_init is closed with 4408', async () => {
    const [code] = await once(openSocket(), 'close')
    expect(code).toBe(4408)
  })

  test('one that subscribes before connection_init is closed with 4401', async () => {
    const socket = openSocket()
    await once(socket, 'open')
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: '{ viewer { subject } }' } }))
    const [code] = await once(socket, 'close')
    expect(code).toBe(4401)
  })

  test('one that sends what is no message is closed with 4400', async () => {
    const socket = openSocket()
    await once(socket, 'open')
    socket.send('nonsense')
    const [code] = await once(socket, 'close')
    expect(code).toBe(4400)
  })

  test('a message of 10 MB closes the socket with 1009', async () => {
    const socket = openSocket()
    await once(socket, 'open')
    socket.send('x'.repeat(10_000_000), () => undefined)
    socket.on('error', () => undefined)
    const [code] = await once(socket, 'close')
    expect([1009, 1006]).toContain(code)
  })

  test('at another path there is none', async () => {
    const socket = new WebSocket(server.at('/elsewhere').replace(/^http/, 'ws'))
    const [error] = await once(socket, 'error')
    expect(String(error)).toContain('404')
  })

  test('an invalid document is an error of that operation, and the socket lives on', async () => {
    const client = server.client.socket()
    const errors = await new Promise((resolve) =>
      client.subscribe({ query: '{ nonsense }' }, { next: () => undefined, error: resolve, complete: () => undefined }),
    )
    expect(errors).toMatchObject([{ message: expect.stringContaining('nonsense') }])
    const results = client.iterate({ query: '{ viewer { subject } }' })
    expect(await results.next()).toMatchObject({ value: { data: { viewer: { subject: 'admin' } } } })
    await results.return?.()
  })
})
