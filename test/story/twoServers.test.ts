import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { aliveReplicas, scale } from '../support/drivers/apiService.ts'
import type { EndpointWatch } from '../support/drivers/endpointWatch.ts'
import { HostScene, pidOf } from '../support/drivers/hostScene.ts'
import type { ServerProcess } from '../support/drivers/serverProcess.ts'
import type { WorkerProcess } from '../support/drivers/workerProcess.ts'
import { isRunning } from '../support/fixtures/processes.ts'

// Two servers on one PostgreSQL, as processes, and a worker that knows both: what one takes, the other knows. Each test goes on where the one before
// ended; the fact log is judged at the end.

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let scene: HostScene
let first: ServerProcess
let second: ServerProcess
let worker: WorkerProcess
let watch: EndpointWatch
let failed = false

beforeAll(async () => {
  // A lease outlasts the way to the other server on a busy machine, too: nothing here waits for the end of one.
  scene = await HostScene.start(15, 60, { servers: 2 })
  const [one, two] = scene.servers
  if (one === undefined || two === undefined) throw new Error('There are two.')
  first = one
  second = two
})
afterAll(() => scene?.clean(failed))
afterEach(({ task }) => {
  failed ||= task.result?.state === 'fail'
})

test('a service created through one server is followed on the other', async () => {
  worker = await scene.worker('a')
  const web = await scene.service('web', 2)
  watch = scene.watch('web', second.client())
  expect(await watch.until('the same table', (table) => table.length === 2)).toEqual(web.table)
  web.close()
})

test('a log is read through either server, though the worker is connected to one', async () => {
  const [replica] = await aliveReplicas(second.client(), 'web')
  const query = 'query ($id: ID!) { replicaLog(replica: { id: $id }) { lines { text } } }'
  for (const server of [first, second]) {
    const { replicaLog } = await server
      .client()
      .ask<{ replicaLog: { lines: { text: string }[] } | null }>(query, { id: replica?.id })
    expect(replicaLog?.lines).toEqual([{ text: expect.stringContaining('web[0] listens on port') }])
  }
})

test('one idempotencyKey through both servers at once: one effect, equal answers', async () => {
  const clients = [first.client(), second.client(), first.client(), second.client()]
  for (let round = 0; round < 5; round++) {
    const name = `once-${round}`
    const service = { name }
    const atOnce = async (mutation: string, input: Record<string, unknown>, answer: string) => {
      const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}`
      const query = `mutation ($input: ${type}Input!) { result: ${mutation}(input: $input) { __typename ... on ${type}Payload { ${answer} } ... on Error { message } } }`
      const variables = { input: { ...input, idempotencyKey: `key-${round}` } }
      const answers = await Promise.all(
        clients.map((client) => client.ask<{ result: { __typename: string } }>(query, variables)),
      )
      expect(answers).toEqual(clients.map(() => answers[0]))
      expect(answers[0]?.result.__typename).toBe(`${type}Payload`)
    }
    const look = async () => {
      const query = `{ service(name: "${name}") { specRevision version { number } } }`
      return (await first.client().ask<{ service: { specRevision: string; version: { number: number } } }>(query))
        .service
    }
    await atOnce('createService', { ...service, profile: 'web', replicas: 0 }, 'service { id }')
    // The second of them finds another revision than it expects: the first one's.
    await atOnce(
      'scaleService',
      { service, replicas: 0, expectedRevision: (await look()).specRevision },
      'service { desiredReplicas }',
    )
    await atOnce('restartService', { service }, 'rollout { number to { number } }')
    expect((await look()).version.number).toBe(2)
    await atOnce('applyQueue', { name: `queue-${round}`, priority: round }, 'queue { id }')
    // It is gone at once: the second of them finds no service of this name.
    await atOnce('deleteService', { service }, 'service { id }')
  }
})

test('a connection that listens is killed: what is committed elsewhere in that moment is made up by the cursor', async () => {
  const { prisma } = await scene.open()
  for (const replicas of [3, 2]) {
    await prisma.$queryRaw`SELECT count(pg_terminate_backend(pid)) AS ended FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'xce-services listener'`
    await scale(first.client(), 'web', replicas)
    await watch.until(`${replicas} serve`, (table) => table.length === replicas)
  }
})

test('the server that the worker is connected to is killed: the worker goes to the other, no replica notices, and what is asked there is done', async () => {
  const before = watch.table
  const pids = await Promise.all(before.map(pidOf))
  const [killed, other] =
    worker.output.lastIndexOf(first.url) > worker.output.lastIndexOf(second.url) ? [first, second] : [second, first]
  const seen = scene.watch('web', other.client())
  watch.close()
  await seen.until('the same table', (table) => table.length === 2)
  await killed.end('SIGKILL')
  scene.asked = other
  await scale(other.client(), 'web', 3)
  const after = await seen.until('three serve', (table) => table.length === 3)
  expect(after.slice(0, 2)).toEqual(before)
  expect(pids.every(isRunning)).toBe(true)
  expect(seen.frames.flatMap(({ removed }) => removed)).toEqual([])
  await killed.start()
  const again = scene.watch('web', killed.client())
  expect(await again.until('the table', (table) => table.length === 3)).toEqual(after)
})
