import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { createService } from '../support/drivers/apiService.ts'
import { ServerProcess } from '../support/drivers/serverProcess.ts'
import { EventStream } from '../support/drivers/sse.ts'
import { built } from '../support/fixtures/built.ts'
import { until } from '../support/fixtures/until.ts'

const servers: ServerProcess[] = []
function newServer(env: NodeJS.ProcessEnv = {}): ServerProcess {
  const server = new ServerProcess(env)
  servers.push(server)
  return server
}
afterEach(async () => {
  const used = servers.splice(0)
  await Promise.all(used.map((server) => server.end()))
  for (const server of used) expect(await server.clean()).toEqual([])
})

// Each starts servers as processes, some of them several.
vi.setConfig({ testTimeout: 120_000 })

test('all mistakes of the settings are told at once, one sentence each, and it ends with status 1', async () => {
  const server = newServer({ XCE_PORT: 'x', XCE_LOCAL_WORKER: 'on', XCE_WORKER_PORT_RANGE: '5-2' })
  await server.start()
  expect(await server.end()).toBe(1)
  expect(server.output.trim().split('\n')).toEqual([
    'XCE_PORT is "x": give a port from 0 to 65535.',
    'XCE_WORKER_PORT_RANGE is "5-2": give two ports from 1 to 65535, the smaller first, for example 20000-32000.',
  ])
})

test('a word on its command line that it does not know is refused, for nothing would come of it; -h is --help', () => {
  const run = (word: string) => spawnSync(process.execPath, [built('server.js'), word], { encoding: 'utf8' })
  const { status, stdout, stderr } = run('--port')
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toBe('"--port" is not an option of the server: its settings are environment variables, see --help.\n')
  expect(run('-h')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^XCE Services, the server/), stderr: '' })
})

test('where it may open fewer files than its start needs, that is told, and not where loading itself broke', () => {
  const run = spawnSync('sh', ['-c', 'ulimit -n 64; exec "$0" "$1"', process.execPath, built('server.js')], {
    encoding: 'utf8',
  })
  expect([run.status, run.stdout]).toEqual([1, ''])
  expect(run.stderr).toBe(
    'The server may open 64 files, and its start needs 256: raise "ulimit -n", or LimitNOFILE of its unit, to 1024 or more.\n',
  )
})

test('a port in use, or a data directory, is told by its name, and it ends with status 1', async () => {
  const server = newServer()
  await server.start()
  const { port } = new URL(server.url)
  const samePort = newServer({ XCE_PORT: port })
  const sameDirectory = newServer({ XCE_DATA_DIR: server.directory })
  await Promise.all([samePort.start(), sameDirectory.start()])
  expect(await samePort.end()).toBe(1)
  expect(samePort.output).toContain(`Port ${port} on 127.0.0.1 is in use`)
  expect(await sameDirectory.end()).toBe(1)
  expect(sameDirectory.output).toContain('is in use by the server with process id')
  // The one that was there is as well as before, and its address is still told.
  expect((await fetch(new URL('/healthz', server.url))).status).toBe(200)

  expect(statSync(server.file('admin-token')).mode & 0o777).toBe(0o600)
  expect(server.output).toContain(server.file('admin-token'))
  expect(server.output).not.toContain(server.client().token ?? '')
})

test('a data directory that is none is told by its name, not by the port', async () => {
  const server = newServer()
  const file = server.file('no-directory')
  writeFileSync(file, '')
  await server.start({ XCE_DATA_DIR: file })
  expect(await server.end()).toBe(1)
  expect(server.output).toContain(`The data directory ${file} can't be used (EEXIST`)
})

test('npm hands its signals to the program, and not to a shell that would leave it behind', () => {
  const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    scripts: Record<string, string>
  }
  for (const name of ['start', 'demo', 'worker', 'simulate'])
    expect(scripts[name]).toMatch(/&& exec node dist\/[a-z]+\.js$/)
})

test('SIGTERM closes WebSockets with 1012, cuts event streams without a complete event, and ends with status 0', async () => {
  const server = newServer()
  await server.start()
  const client = server.client()
  await createService(client, 'web', 0)
  const socket = new WebSocket(server.url.replace(/^http/, 'ws'), 'graphql-transport-ws')
  await once(socket, 'open')
  const closed = once(socket, 'close')
  const subscription = 'subscription { serviceChanged(service: { name: "web" }) { kind } }'
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${client.token}` } }))
  await once(socket, 'message')
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: subscription } }))
  const [frame] = await once(socket, 'message')
  expect(JSON.parse(String(frame))).toMatchObject({ type: 'next' })
  const after: unknown[] = []
  socket.on('message', (message) => after.push(String(message)))
  const streams = [client.url, new URL('/graphql/stream', server.url).href].map(async (url) => {
    const stream = await EventStream.open({ url, token: client.token }, subscription)
    expect(await stream.next()).toMatchObject({ event: 'next' })
    return { end: stream.next().catch((error: unknown) => error) }
  })
  const open = await Promise.all(streams)

  expect(await server.end('SIGTERM')).toBe(0)
  expect((await closed)[0]).toBe(1012)
  expect(after).toEqual([])
  for (const { end } of open) expect(await end).toBeInstanceOf(Error)
})

test('a second signal, more than a second after the first, ends it at once, whatever is still under way', async () => {
  const server = newServer()
  await server.start()
  const { hostname, port } = new URL(server.url)
  const request = connect(Number(port), hostname)
  await once(request, 'connect')
  // A request whose body never ends holds a stop in order up.
  const token = server.client().token
  request.write(
    `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
  )
  request.on('error', () => undefined)
  await until(async () => (await fetch(new URL('/healthz', server.url))).ok, 'the server has read the request')
  server.child.kill('SIGTERM')
  const toldAt = performance.now()
  await until(() => {
    server.child.kill('SIGINT')
    return server.child.exitCode !== null
  }, 'it ends')
  expect(server.child.exitCode).toBe(1)
  expect(server.output).toContain('SIGINT again: the server ends at once.')
  expect(performance.now() - toldAt).toBeGreaterThan(1_000)
  request.destroy()
})
