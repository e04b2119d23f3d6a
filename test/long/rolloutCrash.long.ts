import { afterEach, describe, expect, test } from 'vitest'
import { Rng } from '../feed/rng.ts'
import type { ApiClient } from '../support/drivers/apiClient.ts'
import { change, createService } from '../support/drivers/apiService.ts'
import { ServerProcess } from '../support/drivers/serverProcess.ts'
import { freshPostgreSQL, type TestDatabase } from '../support/fixtures/databases.ts'
import { helloCommand, helloProfile } from '../support/fixtures/hello.ts'
import { until } from '../support/fixtures/until.ts'

// The server is killed with SIGKILL at random facts of rollouts and started again: it goes on where it was, never outside the limits, and
// touches no replica that the rollout does not replace. The worker outlives it.

const seed = Number(process.env['XCE_CRASH_SEED'] ?? 20_261_129)
const kills = Number(process.env['XCE_CRASH_KILLS'] ?? 8)

let server: ServerProcess | null = null
let database: TestDatabase | null = null

afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.error(`seed ${seed}\n${server?.output}`)
  const left = await server?.clean()
  await database?.drop()
  database = null
  expect(left).toEqual([])
})

interface Seen {
  readonly revision: string
  readonly desiredReplicas: number
  readonly activeReplicas: number
  readonly availableReplicas: number
  readonly status: string
  readonly version: { readonly number: number }
  readonly rollout: {
    readonly number: number
    readonly state: string
    readonly blocker: { readonly message: string } | null
  }
}

const query = `{ service(name: "web") { revision desiredReplicas activeReplicas availableReplicas status version { number }
  rollout { number state blocker { message } } } }`

async function look(client: ApiClient): Promise<Seen> {
  const { service } = await client.ask<{ service: Seen }>(query)
  // R1 of 4 replicas at 25 %: between 3 and 5.
  expect(service.availableReplicas).toBeGreaterThanOrEqual(3)
  expect(service.activeReplicas).toBeLessThanOrEqual(5)
  return service
}

describe.each(['embedded', 'PostgreSQL'] as const)('%s', (kind) => {
  test(`${kills} kills of the server in the middle of rollouts`, async () => {
    const rng = new Rng(seed)
    if (kind === 'PostgreSQL') database = await freshPostgreSQL()
    const url = database?.options.url
    const running = new ServerProcess({
      XCE_LOCAL_WORKER: 'on',
      XCE_WORKER_ADDRESSES: '127.0.0.1',
      XCE_STOP_REPLICAS_ON_EXIT: 'on',
      ...(url === undefined ? {} : { DATABASE_URL: url }),
    })
    server = running
    await running.start()
    let client = running.client()
    await createService(client, 'web', 4, helloProfile())
    await until(
      async () => (await client.ask<{ service: Seen }>(query)).service.status === 'HEALTHY',
      'web is healthy',
      60,
    )

    let rollouts = 1
    for (let kill = 0; kill < kills; kill++) {
      const before = await look(client)
      if (before.rollout.state === 'COMPLETED') {
        rollouts++
        await change(client, 'updateService', 'UpdateServiceInput', {
          service: { name: 'web' },
          command: [...helloCommand(), `r${rollouts}`],
        })
      }
      const at = BigInt(before.revision) + BigInt(1 + rng.below(20))
      await until(
        async () => {
          const seen = await look(client)
          return BigInt(seen.revision) >= at || seen.rollout.state === 'COMPLETED'
        },
        `revision ${at}`,
        60,
      )
      await running.end('SIGKILL')
      await running.start()
      client = running.client()
    }
    const done = await until(
      async () => {
        const seen = await look(client)
        return seen.rollout.state === 'COMPLETED' && seen.status === 'HEALTHY' ? seen : null
      },
      'the last rollout is complete',
      120,
    )
    expect(done).toMatchObject({ version: { number: rollouts }, rollout: { number: rollouts } })
    expect(rollouts).toBeGreaterThan(2)

    const ended = '{ replicas(first: 100, filter: { states: [ENDED] }) { nodes { endReason } } }'
    const { replicas } = await client.ask<{ replicas: { nodes: { endReason: string }[] } }>(ended)
    expect(new Set(replicas.nodes.map(({ endReason }) => endReason))).toEqual(new Set(['REPLACED_BY_ROLLOUT']))
    await change(client, 'deleteService', 'DeleteServiceInput', { service: { name: 'web' } })
    await until(
      async () => (await client.ask<{ service: unknown }>('{ service(name: "web") { id } }')).service === null,
      'web is gone',
      60,
    )
  })
})
