import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createToken } from '../../src/store/access/tokens.ts'
import { ApiClient } from '../support/drivers/apiClient.ts'
import { TestServer } from '../support/drivers/testServer.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.stop())

const viewer = '{ viewer { subject roles } }'

/** The code that the server closes a socket with that says this. */
async function closeOf(connectionParams: Record<string, unknown>): Promise<number> {
  const socket = new WebSocket(server.url.replace(/^http/, 'ws'), 'graphql-transport-ws')
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'connection_init', payload: connectionParams }))
  const [code] = await once(socket, 'close')
  return code
}

describe('over HTTP', () => {
  test('a valid token says who asks', async () => {
    expect(await server.client.ask(viewer)).toEqual({ viewer: { subject: 'admin', roles: ['admin'] } })
  })

  test.each([
    ['no', null],
    ['a wrong', 'nonsense'],
  ])('%s token is 401 with the code UNAUTHENTICATED', async (_which, token) => {
    const { status, data, errors } = await new ApiClient(server.url, token).send(viewer)
    expect([status, data, errors.map((error) => error.extensions?.code)]).toEqual([401, null, ['UNAUTHENTICATED']])
  })

  test('another scheme than Bearer is no token', async () => {
    const response = await fetch(server.url, {
      method: 'POST',
      headers: { authorization: `Basic ${server.client.token}` },
      body: '{}',
    })
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  })

  test('a worker’s token may not read services', async () => {
    const token = await createToken(server.app.database, { subject: 'w', roles: ['worker'] })
    const { errors } = await new ApiClient(server.url, token).send('{ services { nodes { id } } }')
    expect(errors.map((error) => error.extensions?.code)).toEqual(['FORBIDDEN'])
  })
})

describe('over a WebSocket', () => {
  test('a valid token in connectionParams.authorization is taken', async () => {
    const results = server.client.socket().iterate({ query: viewer })
    expect(await results.next()).toMatchObject({ value: { data: { viewer: { subject: 'admin' } } } })
    await results.return?.()
  })

  test.each([
    ['no', {}],
    ['a wrong', { authorization: 'Bearer nonsense' }],
    ['a strange', { authorization: 42 }],
  ])('%s token is closed with 4401', async (_which, params) => {
    expect(await closeOf(params)).toBe(4401)
  })
})
