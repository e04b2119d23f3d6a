import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createToken } from '../../src/store/access/tokens.ts'
import { ApiClient } from '../support/drivers/apiClient.ts'
import { HandSocket } from '../support/drivers/handSocket.ts'
import { TestServer } from '../support/drivers/testServer.ts'

let server: TestServer
let worker: ApiClient
beforeAll(async () => {
  server = await TestServer.start()
  worker = new ApiClient(server.url, await createToken(server.app.database, { subject: 'worker-1', roles: ['worker'] }))
})
afterAll(() => server.stop())

const ofUsers = '{ services { nodes { name } } }'
const ofWorkers =
  'mutation { renewLease(input: { worker: "Worker_1", epoch: 1 }) { __typename ... on Error { code } } }'

/** What the server says when it takes a token. */
async function acknowledgement({ url, token }: ApiClient): Promise<unknown> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), 'graphql-transport-ws')
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }))
  const [data] = await once(socket, 'message')
  socket.close()
  return JSON.parse(String(data))
}

async function overSocket(client: ApiClient, query: string): Promise<unknown> {
  const socket = await HandSocket.open(client)
  socket.subscribe('1', query)
  const { type, payload } = await socket.next('1')
  socket.close()
  return { type, payload }
}

describe('/worker', () => {
  test('takes the worker’s protocol from workers and admins, over HTTP and WebSocket', async () => {
    for (const client of [worker, server.client]) {
      const data = { renewLease: { __typename: 'FencedError', code: 'FENCED' } }
      expect(await client.worker.ask(ofWorkers)).toEqual(data)
      expect(await overSocket(client.worker, ofWorkers)).toEqual({ type: 'next', payload: { data } })
    }
  })

  test('knows nothing of the API of users', async () => {
    const { data, errors } = await server.client.worker.send(ofUsers)
    expect([data, errors[0]?.message]).toEqual([null, 'Cannot query field "services" on type "Query".'])
    expect(await overSocket(server.client.worker, ofUsers)).toMatchObject({ type: 'error' })
  })

  test('needs a token, and is asked by POST alone', async () => {
    expect((await new ApiClient(server.url, null).worker.send(ofWorkers)).status).toBe(401)
    const headers = { authorization: `Bearer ${worker.token}` }
    expect((await fetch(server.at('/worker?query={workerDrain}'), { headers })).status).toBe(405)
  })

  test('says which protocol and lease it gives, and only there', async () => {
    expect(await acknowledgement(worker.worker)).toMatchObject({
      type: 'connection_ack',
      payload: { workerProtocol: {}, workerLease: {} },
    })
    expect(await acknowledgement(server.client)).toEqual({ type: 'connection_ack' })
  })
})

describe('/graphql', () => {
  test('knows nothing of the worker’s protocol', async () => {
    const { data, errors } = await server.client.send(ofWorkers)
    expect([data, errors[0]?.message]).toEqual([null, 'Cannot query field "renewLease" on type "Mutation".'])
  })

  test('refuses a worker, and says where it is served', async () => {
    const message =
      'worker-1 may not use Query.services: it has the role worker. Use a token with the role admin. Workers speak their own protocol, at /worker.'
    expect((await worker.send(ofUsers)).errors).toMatchObject([{ message, extensions: { code: 'FORBIDDEN' } }])
    expect(await overSocket(worker, ofUsers)).toMatchObject({ payload: { errors: [{ message }] } })
    expect(await worker.ask('{ viewer { subject } }')).toEqual({ viewer: { subject: 'worker-1' } })
  })
})

test.each(['/graphql', '/worker'])('a socket at %s ends with its token, and with its server', async (path) => {
  const { database } = server.app
  const token = await createToken(database, { subject: `leaves ${path}`, roles: ['admin'] })
  const gone = await HandSocket.open({ url: server.at(path), token })
  await database.prisma.token.deleteMany({ where: { subject: `leaves ${path}` } })
  expect(await gone.next()).toEqual({ type: 'closed', payload: '4403 Forbidden: the token is no longer valid.' })
  const other = await TestServer.start()
  const socket = await HandSocket.open({ url: other.at(path), token: other.client.token })
  await other.stop()
  expect(await socket.next()).toEqual({ type: 'closed', payload: '1012 The server restarts: connect again.' })
})
