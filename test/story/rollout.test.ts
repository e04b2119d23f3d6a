import { afterEach, expect, test, vi } from 'vitest'
import { Load } from '../../src/demo/load.ts'
import type { ApiClient } from '../support/drivers/apiClient.ts'
import { change, createService, remove } from '../support/drivers/apiService.ts'
import { EndpointWatch } from '../support/drivers/endpointWatch.ts'
import { ServerProcess } from '../support/drivers/serverProcess.ts'
import { helloCommand, helloReadiness } from '../support/fixtures/hello.ts'
import { until } from '../support/fixtures/until.ts'

vi.setConfig({ testTimeout: 600_000 })

const command = helloCommand()
let server: ServerProcess | null = null
let seen: EndpointWatch | null = null
let load: Load | null = null

afterEach(async ({ task }) => {
  await load?.stop()
  seen?.close()
  if (task.result?.state === 'fail') console.error(server?.output)
  expect(await server?.clean()).toEqual([])
  expect(seen?.faults).toEqual([])
})

interface Rollout {
  readonly number: number
  readonly state: string
  readonly blocker: { readonly message: string } | null
}

const query = '{ service(name: "web") { rollout { number state blocker { message } } status availableReplicas } }'
const read = async (client: ApiClient) =>
  (await client.ask<{ service: { rollout: Rollout; status: string; availableReplicas: number } }>(query)).service

/** Begins a rollout by a mutation and waits for its end. */
async function roll(
  client: ApiClient,
  number: number,
  mutation: string,
  input: Record<string, unknown> = {},
): Promise<void> {
  const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`
  await change(client, mutation, type, { service: { name: 'web' }, ...input })
  let last: unknown
  await until(
    async () => {
      const { rollout } = await read(client)
      last = rollout
      return rollout.number === number && rollout.state === 'COMPLETED'
    },
    `rollout ${number} is complete`,
    90,
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${JSON.stringify(last)}`)
  })
}

test('an update, a rollback and a restart of 4 replicas: a client that follows the endpoint sees no failed request', async () => {
  const own = { XCE_WORKER_ADDRESSES: '127.0.0.1', XCE_WORKER_PORT_RANGE: '31500-31999' }
  server = new ServerProcess({ XCE_LOCAL_WORKER: 'on', XCE_STOP_REPLICAS_ON_EXIT: 'on', ...own })
  await server.start()
  const client = server.client()
  await createService(client, 'web', 4, { command, readiness: helloReadiness })
  const watched = new EndpointWatch(client, 'web')
  seen = watched
  await watched.until('4 addresses', (table) => table.length === 4)
  const before = watched.frames.length
  const requests = new Load(
    () => watched.table,
    (body) => String((JSON.parse(body) as { version: number }).version),
  )
  load = requests
  requests.start()

  await roll(client, 2, 'updateService', { command: [...command, 'two'] })
  await roll(client, 3, 'rollbackService')
  await roll(client, 4, 'restartService')

  await until(() => (requests.answers.get('4') ?? 0) > 100, 'the last version answers')
  await requests.stop()
  expect(requests.failures).toEqual([])
  expect([...requests.answers.keys()].sort()).toEqual(['1', '2', '3', '4'])
  console.log(
    `${requests.requests} requests during an update, a rollback and a restart: ${requests.failures.length} failed`,
  )
  // R1 of 4 replicas at 25 %: at least 3 serve, at every frame.
  const sizes = watched.frames
    .slice(before)
    .flatMap(({ endpoint }) => (endpoint === null ? [] : endpoint.addresses.length))
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(3)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(5)
  expect(await read(client)).toMatchObject({ status: 'HEALTHY', availableReplicas: 4 })

  await remove(client, 'web')
  await until(() => watched.gone, 'the endpoint is gone', 60)
})
