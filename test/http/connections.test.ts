import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { TestServer } from '../support/drivers/testServer.ts'
import { until } from '../support/fixtures/until.ts'

let server: TestServer
const sockets: Socket[] = []
beforeEach(async () => {
  server = await TestServer.start(undefined, undefined, { env: { XCE_KEEP_ALIVE_SECONDS: '' } })
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await server.stop()
})

async function open(): Promise<Socket & { heard: string }> {
  const { hostname, port } = new URL(server.url)
  const socket = Object.assign(connect(Number(port), hostname), { heard: '' })
  sockets.push(socket)
  socket.on('data', (bytes) => (socket.heard += String(bytes)))
  await once(socket, 'connect')
  return socket
}

const head = (method: string, path: string, ...lines: string[]) =>
  [`${method} ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${server.client.token}`, ...lines, '', ''].join(
    '\r\n',
  )

test('an idle connection is kept for 75 seconds, longer than proxies keep theirs', async () => {
  const socket = await open()
  socket.write(head('GET', '/healthz'))
  await until(() => socket.heard.includes('alive'), 'the answer is there')
  expect(socket.heard).toMatch(/\r\nKeep-Alive: timeout=75\r\n/i)
})

describe('a stop takes no longer than what is under way:', () => {
  /** How long a stop takes in which this happens. */
  async function stopWhile(happens: () => Promise<unknown>): Promise<number> {
    const beganAt = performance.now()
    const stopped = server.keep()
    await happens()
    await stopped
    return performance.now() - beganAt
  }

  // A connection that is not closed is cut after 5 s.
  const soon = 4_000

  test('a request that ends meanwhile on a connection that would idle then', async () => {
    const body = JSON.stringify({ query: '{ viewer { subject } }' })
    const socket = await open()
    socket.write(head('POST', '/graphql', 'Content-Type: application/json', `Content-Length: ${body.length}`))
    await until(() => fetch(server.at('/healthz')), 'the server has read the head')
    const took = await stopWhile(async () => {
      await until(async () => !(await reaches()), 'the server takes no connections')
      socket.write(body)
      await once(socket, 'close')
    })
    expect(socket.heard).toContain('{"data":{"viewer":{"subject":"admin"}}}')
    expect(socket.heard).toMatch(/\r\nConnection: close\r\n/i)
    expect(took).toBeLessThan(soon)
  })

  test('an answer whose head was sent before', async () => {
    // More than the buffers of both ends take: while the reader pauses, the answer waits for it.
    const types = Array.from({ length: 80 }, (_, n) => `a${n}: types { description fields { description } }`)
    const body = JSON.stringify({ query: `{ __schema { ${types.join(' ')} } }` })
    const socket = await open()
    socket.write(head('POST', '/graphql', 'Content-Type: application/json', `Content-Length: ${body.length}`) + body)
    await once(socket, 'data')
    socket.pause()
    const took = await stopWhile(async () => {
      await until(async () => !(await reaches()), 'the server takes no connections')
      socket.resume()
      await once(socket, 'close')
    })
    expect(took).toBeLessThan(soon)
  })

  test('a connection on which nothing was ever sent, as browsers open them ahead', async () => {
    const socket = await open()
    const took = await stopWhile(() => once(socket, 'close'))
    expect(took).toBeLessThan(soon)
  })

  async function reaches(): Promise<boolean> {
    return open().then(
      () => true,
      () => false,
    )
  }
})
