import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { documentedOperations } from '../graphql/documentedOperations.ts'
import type { ApiClient } from '../support/drivers/apiClient.ts'
import { aliveReplicas, change, createService, remove, scale } from '../support/drivers/apiService.ts'
import { EndpointWatch, type WatchedAddress } from '../support/drivers/endpointWatch.ts'
import { ServerProcess } from '../support/drivers/serverProcess.ts'
import { helloProfile } from '../support/fixtures/hello.ts'
import { isRunning, processesWith } from '../support/fixtures/processes.ts'
import { until } from '../support/fixtures/until.ts'

vi.setConfig({ testTimeout: 600_000 })

const servers: ServerProcess[] = []
const watches: EndpointWatch[] = []
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') for (const server of servers) console.error(server.output)
  for (const watch of watches.splice(0)) {
    watch.close()
    expect(watch.faults).toEqual([])
  }
  for (const server of servers.splice(0)) expect(await server.clean()).toEqual([])
})

/** The built server with its local worker on this machine. */
async function startServer(stopReplicas: 'on' | 'off'): Promise<ServerProcess> {
  // Ports that no other story gives to its replicas: a port is held while its process is started again.
  const env = { XCE_LOCAL_WORKER: 'on', XCE_WORKER_ADDRESSES: '127.0.0.1', XCE_WORKER_PORT_RANGE: '31000-31499' }
  const server = new ServerProcess(env)
  servers.push(server)
  await server.start({ XCE_STOP_REPLICAS_ON_EXIT: stopReplicas })
  return server
}

function watch(client: ApiClient): EndpointWatch {
  const started = new EndpointWatch(client, 'web')
  watches.push(started)
  return started
}

/** The example replica: an HTTP server on one port, any free, with a readiness probe. */
function createWeb(client: ApiClient, replicas: number): Promise<void> {
  return createService(client, 'web', replicas, helloProfile())
}

const hasPython = spawnSync('python3', ['--version']).status === 0

test.skipIf(!hasPython)(
  'the first profile of the README serves nothing of where the server or the worker run',
  async () => {
    const server = await startServer('on')
    const client = server.client()
    // As in a checkout: the server, and with it the worker, was started where there is something to serve.
    expect(existsSync('package.json')).toBe(true)
    const profile = documentedOperations().find(({ name }) => name === 'Profile')
    expect(profile?.document).toContain('python3 -m http.server')
    await client.ask(profile?.document ?? '')
    await change(client, 'createService', 'CreateServiceInput', { name: 'web', profile: 'hello', replicas: 2 })
    const seen = watch(client)
    const table = await seen.until('2 addresses', (addresses) => addresses.length === 2)
    const stateDirectory = server.file('worker')
    for (const { hostPort, replicaId } of table) {
      const get = (file: string) => fetch(`http://${hostPort}${file}`)
      const listing = await get('/')
      expect(listing.status).toBe(200)
      expect(await listing.text()).not.toContain('href')
      for (const file of [
        '/package.json',
        '/.xce/admin-token',
        '/admin-token',
        '/worker-token',
        '/stdout.log',
        '/state.json',
      ])
        expect((await get(file)).status).toBe(404)
      expect(readdirSync(path.join(stateDirectory, 'homes', replicaId))).toEqual([])
    }
    expect(statSync(path.join(stateDirectory, 'homes')).mode & 0o777).toBe(0o700)
    await remove(client, 'web')
    await until(() => seen.gone, 'the endpoint is gone', 60)
  },
)

interface Answer {
  readonly index: number
  readonly replica: string
  readonly pid: number
}

/** What the replica behind an address says of itself. */
async function ask({ hostPort }: WatchedAddress): Promise<Answer> {
  return (await (await fetch(`http://${hostPort}/`)).json()) as Answer
}

test('replicas are started, served, restarted in place, replaced, scaled and removed; the endpoint tells each step', async () => {
  const server = await startServer('on')
  const client = server.client()
  await createWeb(client, 3)
  const seen = watch(client)

  const three = await seen.until('3 addresses', (table) => table.length === 3)
  const answers = await Promise.all(three.map(ask))
  expect(answers.map(({ index, replica }) => ({ index, replica }))).toEqual(
    three.map(({ index, replicaId }) => ({ index, replica: replicaId })),
  )

  // A process that dies is restarted in place: the same replica, its next start.
  const [first, second] = answers
  process.kill(first?.pid ?? 0, 'SIGKILL')
  const restarted = await seen.until(
    'the restarted one is back',
    (table) => table.length === 3 && table[0]?.start === 2,
  )
  expect(restarted[0]).toMatchObject({ replicaId: first?.replica, hostPort: three[0]?.hostPort })
  expect((await ask(restarted[0] as WatchedAddress)).pid).not.toBe(first?.pid)
  expect(seen.frames.flatMap(({ removed }) => removed.map(({ id }) => id))).toContain(three[0]?.id)

  // A replica that is killed through the API is replaced by another with its index.
  await change(client, 'killReplica', 'KillReplicaInput', { replica: { id: second?.replica } })
  const replaced = await seen.until(
    'the replacement is ready',
    (table) => table.length === 3 && table[1]?.index === 1 && table[1].replicaId !== second?.replica,
  )
  expect(await ask(replaced[1] as WatchedAddress)).toMatchObject({ index: 1, replica: replaced[1]?.replicaId })
  await until(() => !isRunning(second?.pid ?? 0), 'the killed process has ended')

  await scale(client, 'web', 5)
  const five = await seen.until('5 addresses', (table) => table.length === 5)
  const pids = await Promise.all(five.map(async (one) => (await ask(one)).pid))
  expect(new Set(pids).size).toBe(5)

  await scale(client, 'web', 2)
  const two = await seen.until('2 addresses', (table) => table.length === 2)
  await Promise.all(two.map(ask))
  await until(() => pids.filter(isRunning).length === 2, '3 processes have ended')

  await remove(client, 'web')
  await until(() => seen.gone, 'the endpoint is gone', 60)
  await until(() => !pids.some(isRunning), 'no process of the service is left')
})

test('a server that stops or dies, and a worker that dies, start no replica again and touch none', async () => {
  const server = await startServer('off')
  let client = server.client()
  await createWeb(client, 3)
  const first = watch(client)
  const before = await first.until('3 addresses', (table) => table.length === 3)
  first.close()
  const pids = (await Promise.all(before.map(ask))).map(({ pid }) => pid)

  // A worker that can show a replica's log is connected and has taken it over.
  const connected = () =>
    until(
      async () => {
        const [replica] = before
        const query = 'query ($id: ID!) { replicaLog(replica: { id: $id }) { position } }'
        const reading = client.ask<{ replicaLog: object | null }>(query, { id: replica?.replicaId })
        return reading.then(
          ({ replicaLog }) => replicaLog,
          () => null,
        )
      },
      'the worker is connected',
      60,
    )
  const untouched = async () => {
    const replicas = await aliveReplicas(client, 'web')
    expect(replicas.map(({ id, start, state, ready }) => ({ id, start, state, ready }))).toEqual(
      before.map(({ replicaId }) => ({ id: replicaId, start: 1, state: 'RUNNING', ready: true })),
    )
    const { service } = await client.ask<{ service: { replicas: { nodes: unknown[] } } }>(
      '{ service(name: "web") { replicas { nodes { id } } } }',
    )
    expect(service.replicas.nodes).toHaveLength(3)
    expect((await Promise.all(before.map(ask))).map(({ pid }) => pid)).toEqual(pids)
  }

  const rounds = 4
  for (let round = 1; round <= rounds; round++) {
    const signal = round % 2 === 0 ? 'SIGKILL' : 'SIGTERM'
    expect(await server.end(signal)).toBe(signal === 'SIGTERM' ? 0 : 'SIGKILL')
    expect((await Promise.all(before.map(ask))).map(({ pid }) => pid)).toEqual(pids)
    await server.start({ XCE_STOP_REPLICAS_ON_EXIT: round === rounds ? 'on' : 'off' })
    client = server.client()
    await connected()
    await untouched()
  }

  const worker = server.workerPid
  process.kill(worker, 'SIGKILL')
  await until(
    () => processesWith(server.directory).length > 0 && server.workerPid !== worker,
    'the worker is started again',
    60,
  )
  await connected()
  await untouched()

  // The new worker is as good as the one before: it sees what happens to processes that it did not start.
  const seen = watch(client)
  await seen.until('3 addresses', (table) => table.length === 3)
  process.kill(pids[0] ?? 0, 'SIGKILL')
  await seen.until('the restarted one is back', (table) => table.length === 3 && table[0]?.start === 2)
})
