import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createService, scale } from '../support/drivers/apiService.ts'
import { completeMessage, HandSocket, subscribeMessage } from '../support/drivers/handSocket.ts'
import { TestServer } from '../support/drivers/testServer.ts'

let server: TestServer
let socket: HandSocket
beforeAll(async () => {
  server = await TestServer.start()
  await createService(server.client, 'one', 1)
  await createService(server.client, 'two', 0)
})
afterAll(() => server.stop())
beforeEach(async () => {
  socket = await HandSocket.open(server.client)
})
afterEach(() => socket.close())

const followed = (name: string) => `subscription { serviceChanged(service: { name: "${name}" }) { service { name } } }`
const frameOf = (name: string) => ({ type: 'next', payload: { data: { serviceChanged: { service: { name } } } } })

test('an id used again right after a complete is the new subscription’s, from its first frame to its last', async () => {
  for (let replicas = 1; replicas <= 20; replicas++) {
    socket.send(subscribeMessage('id', followed('one')), completeMessage('id'), subscribeMessage('id', followed('two')))
    expect(await socket.next()).toMatchObject(frameOf('two'))
    await scale(server.client, 'two', replicas)
    expect(await socket.next()).toMatchObject(frameOf('two'))
    socket.complete('id')
  }
})

test('an id used again after a frame, by any kind of operation, gets the answers of the last one only', async () => {
  for (const query of ['{ viewer { subject } }', 'mutation { nonsense }', followed('one'), followed('nowhere')]) {
    socket.subscribe('id', followed('one'))
    expect(await socket.next()).toMatchObject(frameOf('one'))
    socket.complete('id')
    socket.subscribe('id', query)
    socket.complete('id')
    socket.subscribe('id', followed('two'))
    expect(await socket.next()).toMatchObject(frameOf('two'))
    socket.complete('id')
  }
})

test('one that was completed while it waited for the one before never begins', async () => {
  const complete = completeMessage('id')
  const pair = [subscribeMessage('id', followed('one')), complete, subscribeMessage('id', followed('two')), complete]
  const messages = Array.from({ length: 20 }, () => pair).flat()
  // In one piece: where the server reads an operation before its end is there, it rightly begins it.
  socket.send(...messages, subscribeMessage('other', '{ viewer { subject } }'))
  expect(await socket.next()).toMatchObject({ id: 'other', type: 'next' })
  expect(await socket.next()).toMatchObject({ id: 'other', type: 'complete' })
})

test.each([
  ['while it goes on', ['one']],
  ['while one waits', ['one', null, 'two']],
])('an id that is used twice %s closes the socket with 4409, as the protocol says', async (_when, before) => {
  const messages = before.map((name) =>
    name === null ? completeMessage('id') : subscribeMessage('id', followed(name)),
  )
  socket.send(...messages, subscribeMessage('id', followed('two')))
  let message = await socket.next()
  while (message.type === 'next') message = await socket.next()
  expect(message).toEqual({ type: 'closed', payload: '4409 An operation with this id is going on.' })
})

test('no subscription is left of all this', async () => {
  socket.close()
  expect(await socket.next()).toMatchObject({ type: 'closed' })
  await expect.poll(() => server.app.feed.topics).toBe(0)
})
