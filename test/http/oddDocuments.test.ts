import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createService, scale } from '../support/drivers/apiService.ts'
import { HandSocket } from '../support/drivers/handSocket.ts'
import { EventStream } from '../support/drivers/sse.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { type Operation, oddOperations } from '../support/fixtures/oddOperations.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
  await createService(server.client, 'g', 0)
})
afterAll(() => server.stop())

const living = 'subscription { serviceChanged(service: { name: "g" }) { kind service { desiredReplicas } } }'
const shows = (replicas: number) => expect.stringContaining(`"desiredReplicas":${replicas}`)

/** The code of the server's own fault must not come of what a client writes. */
const noFault = expect.not.stringContaining('INTERNAL_SERVER_ERROR')

test('there are more than 200 odd operations', () => {
  expect(oddOperations.length).toBeGreaterThan(200)
})

describe('an odd operation ends by itself, and a subscription beside it goes on:', () => {
  test('over a WebSocket', async () => {
    await scale(server.client, 'g', 0)
    const socket = await HandSocket.open(server.client)
    socket.subscribe('living', living)
    expect(JSON.stringify(await socket.next())).toEqual(shows(0))
    const answers: string[] = []
    for (const [index, payload] of oddOperations.entries()) {
      const id = `odd-${index}`
      socket.send({ id, type: 'subscribe', payload })
      const answer = JSON.stringify(await socket.next(id))
      expect(answer, payload.query.slice(0, 300)).toMatch(/"type":"(next|error|complete)"/)
      expect(answer, payload.query.slice(0, 300)).toEqual(noFault)
      socket.complete(id)
      answers.push(answer)
    }
    // The list is neither all mistakes nor all right.
    expect(answers.filter((answer) => answer.includes('"data":{')).length).toBeGreaterThan(20)
    expect(answers.filter((answer) => answer.includes('"message":')).length).toBeGreaterThan(100)
    await scale(server.client, 'g', 1)
    expect(JSON.stringify(await socket.next('living'))).toEqual(shows(1))
    socket.close()
  })

  test.each(['/graphql', '/graphql/stream'])('as an event stream of %s', async (path) => {
    await scale(server.client, 'g', 0)
    const url = server.at(path)
    const stream = await EventStream.open({ url, token: server.client.token }, living)
    expect(JSON.stringify(await stream.next())).toEqual(shows(0))
    for (const payload of oddOperations) {
      const abort = new AbortController()
      const response = await fetch(url, {
        method: 'POST',
        signal: abort.signal,
        headers: {
          authorization: `Bearer ${server.client.token}`,
          'content-type': 'application/json',
          accept: 'text/event-stream',
        },
        body: JSON.stringify(payload),
      })
      const first = await response.body?.getReader().read()
      const heard = `${response.status} ${new TextDecoder().decode(first?.value)}`
      abort.abort()
      expect(heard, payload.query.slice(0, 300)).toMatch(/^(200|400) \S/)
      expect(heard, payload.query.slice(0, 300)).toEqual(noFault)
    }
    await scale(server.client, 'g', 1)
    expect(JSON.stringify(await stream.next())).toEqual(shows(1))
    stream.close()
  })

  test('on the one event stream of the single connection mode', async () => {
    await scale(server.client, 'g', 0)
    const url = server.at('/graphql/stream')
    const authorization = `Bearer ${server.client.token}`
    const token = await (await fetch(url, { method: 'PUT', headers: { authorization } })).text()
    const headers = { authorization, 'x-graphql-event-stream-token': token }
    const stream = await EventStream.request(url, { headers: { ...headers, accept: 'text/event-stream' } })
    const send = async (operationId: string, payload: Operation) => {
      const body = JSON.stringify({ ...payload, extensions: { operationId } })
      const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body }
      const response = await fetch(url, init)
      return `${response.status} ${await response.text()}`
    }
    /** The next event of an operation; those of others are what was still on its way when they were ended. */
    const eventOf = async (id: string) => {
      for (;;) {
        const event = await stream.next()
        if (event === null || (event.data as { id?: string }).id === id) return JSON.stringify(event)
      }
    }
    await send('living', { query: living })
    expect(await eventOf('living')).toEqual(shows(0))
    for (const [index, payload] of oddOperations.entries()) {
      const id = `odd-${index}`
      const answer = await send(id, payload)
      expect(answer, payload.query.slice(0, 300)).toMatch(/^(202 $|400 \S)/)
      if (answer.startsWith('202')) expect(await eventOf(id), payload.query.slice(0, 300)).toEqual(noFault)
      await fetch(`${url}?operationId=${id}`, { method: 'DELETE', headers })
    }
    await scale(server.client, 'g', 1)
    expect(await eventOf('living')).toEqual(shows(1))
    stream.close()
  })
})
