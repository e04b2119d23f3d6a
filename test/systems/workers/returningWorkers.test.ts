import { afterEach, beforeEach, expect, test } from 'vitest'
import { ReturningWorkers } from '../../../src/systems/workers/returningWorkers.ts'
import { createService, placedReplicas } from '../../support/drivers/apiService.ts'
import { HandWorker } from '../../support/drivers/handWorker.ts'
import { TestServer } from '../../support/drivers/testServer.ts'

let server: TestServer
let worker: HandWorker
let replica: string
beforeEach(async () => {
  const first = await TestServer.withWorker()
  await createService(first.server.client, 'web', 1)
  replica = (await placedReplicas(first.server.client, 'web', 1))[0]?.id ?? ''
  await first.worker.report({ replica, state: 'RUNNING', ready: true })
  // Another worker has nothing that could have died.
  await new HandWorker(first.server.client, 'idle').register()
  server = await TestServer.start(undefined, await first.server.keep())
  worker = new HandWorker(server.client)
  Object.assign(worker, { id: first.worker.id, epoch: first.worker.epoch })
})
afterEach(() => server.stop())

async function readiness(): Promise<string> {
  const response = await fetch(server.at('/readyz'))
  return `${response.status} ${(await response.text()).trim()}`
}

const addresses = () => server.client.ask('{ endpoint(service: { name: "web" }) { addresses { index } } }')

test('a server that has started is ready when its workers have told what still runs, and lists no dead address then', async () => {
  expect(await readiness()).toBe(
    '503 The server has just started, and 1 worker has not yet told which replicas still run: addresses may be dead.',
  )
  expect(await addresses()).toEqual({ endpoint: { addresses: [{ index: 0 }] } })
  // The numbers of reports go on from those at the first server: this one repeats the first.
  await worker.report()
  await worker.reportAll({ replica, state: 'ENDED', endReason: 'EXITED' })
  await worker.renew()
  expect(await readiness()).toBe('200 The server is ready.')
  expect(await addresses()).toEqual({ endpoint: { addresses: [] } })
})

test('it waits for 7 s at most, and then never again', async () => {
  let now = server.app.clock.now()
  const workers = new ReturningWorkers(server.app.database, { now: () => now }, 15)
  expect(await workers.count()).toBe(1)
  now += 6_999
  expect(await workers.count()).toBe(1)
  now += 1
  expect(await workers.count()).toBe(0)
  now -= 5_000
  expect(await workers.count()).toBe(0)
})
