import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { Load } from '../../src/demo/load.ts'
import type { ApiClient } from '../support/drivers/apiClient.ts'
import { createService } from '../support/drivers/apiService.ts'
import { EndpointWatch } from '../support/drivers/endpointWatch.ts'
import { RolloutView } from '../support/drivers/rolloutView.ts'
import { ServerProcess } from '../support/drivers/serverProcess.ts'
import { freePort } from '../support/fixtures/freePort.ts'
import { helloCommand, helloProfile } from '../support/fixtures/hello.ts'
import { processesWith, program } from '../support/fixtures/processes.ts'
import { until } from '../support/fixtures/until.ts'

// The troubles of rolloutTroubles.test.ts that matter most, with real processes: whoever follows the endpoint notices nothing of a bad release.

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const hello = helloCommand()
const stop = { drainSeconds: 1, graceSeconds: 10 }

const server = new ServerProcess({
  XCE_LOCAL_WORKER: 'on',
  XCE_WORKER_ADDRESSES: '127.0.0.1',
  XCE_STOP_REPLICAS_ON_EXIT: 'on',
})
let client: ApiClient
let failed = false
beforeAll(async () => {
  await server.start()
  client = server.client()
})
afterEach(({ task }) => {
  failed ||= task.result?.state === 'fail'
})
afterAll(async () => {
  if (failed) console.error(server.output)
  expect(await server.clean()).toEqual([])
})

/** Each address that is ready, with the process behind it. */
async function processesOf(watch: EndpointWatch): Promise<ReadonlyMap<string, number>> {
  const asked = watch.table.map(async ({ replicaId, hostPort }) => {
    const { pid } = (await (await fetch(`http://${hostPort}/`)).json()) as { pid: number }
    return [replicaId, pid] as const
  })
  return new Map(await Promise.all(asked))
}

test.each([
  [
    'crashes',
    'exits-at-once',
    'CRASH_LOOP',
    /^Waiting for crashes\[\d\] and 1 more, which have failed again and again \(crashes\[\d\]: the process exited with code 0\): read their logs/,
  ],
  [
    'never-ready',
    'runs',
    'WAITING_FOR_READY',
    /^Waiting for never-ready\[\d\] and 1 more to become ready: of never-ready\[\d\], .* on port \d+ failed: connect ECONNREFUSED .* \(\d+ times in \d+ s\)\.$/,
  ],
] as const)(
  'a version that %s is told as what it is, and rolled back: no request fails, no old replica that serves is stopped',
  async (name, bad, reason, message) => {
    await createService(
      client,
      name,
      4,
      helloProfile({
        stop,
        restart: { maxAttempts: 1, delaySeconds: 0 },
        serviceDefaults: { backoff: { baseSeconds: 0, maxSeconds: 0 } },
      }),
    )
    const watch = new EndpointWatch(client, name)
    const load = new Load(
      () => watch.table,
      (body) => String((JSON.parse(body) as { version: number }).version),
    )
    try {
      await watch.until('4 addresses', (table) => table.length === 4)
      load.start()
      const service = new RolloutView(client, name)
      const begun = await service.change('updateService', { command: program(bad) })
      expect(begun.rollout).toMatchObject({ state: 'ROLLING', blocker: { count: 2, replica: { index: 3 } } })
      const told = await service.seen(
        reason,
        ({ rollout }) => rollout.blocker?.reason === reason && message.test(rollout.blocker.message),
      )
      expect(told).toMatchObject({
        availableReplicas: 3,
        status: reason === 'CRASH_LOOP' ? reason : 'PROGRESSING',
        rollout: { state: 'ROLLING' },
      })
      const steps = await service.steps(2)
      expect(steps[0]).toBe(`${name}: rolling 1 → 2, 2 of 4 updated, waiting for ${name}[3] and 1 more to be placed.`)
      if (reason === 'CRASH_LOOP')
        expect(steps).toContainEqual(
          expect.stringMatching(
            /; crashes\[\d\] has failed once \(the process exited with code \d+\): read its log\.$/,
          ),
        )

      const before = await processesOf(watch)
      expect(before.size).toBe(3)
      const back = await service.change('rollbackService')
      expect(back).toMatchObject({ availableReplicas: 3, version: { origin: 'ROLLBACK', sameContentAs: 1 } })
      await service.seen(
        'the rollback is complete',
        ({ status, rollout }) => status === 'HEALTHY' && rollout.number === 3,
      )
      const after = await processesOf(watch)
      expect(after.size).toBe(4)
      for (const [replica, pid] of before) expect(after.get(replica)).toBe(pid)
      const ofService = () => new Set(processesWith(`XCE_SERVICE=${name}`))
      await until(
        () => processesWith(`${bad}.mjs`).every((pid) => !ofService().has(pid)),
        'no process of the bad version is left',
        30,
      )
      await load.stop()
      expect(load.failures).toEqual([])
      expect([...load.answers.keys()].sort()).toEqual(['1', '3'])
      expect(watch.faults).toEqual([])
    } finally {
      await load.stop()
      watch.close()
    }
  },
)

test('a fixed port on one host: by default the old one makes room; under explicit u = 0 it serves on, and the hold says what helps', async () => {
  const port = await freePort()
  await createService(client, 'fixed', 1, helloProfile({ stop, ports: [{ name: 'http', port }] }))
  const service = new RolloutView(client, 'fixed')
  const version = async () =>
    ((await (await fetch(`http://127.0.0.1:${port}/`)).json()) as { version: number; pid: number }).version
  const complete = (number: number) =>
    service.seen(
      `rollout ${number} is complete`,
      ({ status, rollout }) => status === 'HEALTHY' && rollout.number === number,
    )
  await complete(1)
  await service.change('updateService', { command: [...hello, 'two'] })
  await complete(2)
  expect(await version()).toBe(2)

  await service.change('updateService', { command: [...hello, 'three'], settings: { rollout: { maxUnavailable: 0 } } })
  const stuck = await service.seen('it says why', ({ rollout }) => rollout.blocker?.reason === 'NO_PORT')
  expect(stuck.rollout.blocker?.message).toMatch(
    new RegExp(
      `^Waiting for a place for fixed\\[1\\]: No host has port ${port} free .* None of the old ones may make room, because maxUnavailable is 0: allow 1 unavailable or add a host\\.$`,
    ),
  )
  expect(await version()).toBe(2)
  await service.change('updateService', { settings: { rollout: { maxSurge: 0, maxUnavailable: 1 } } })
  await complete(3)
  expect(await version()).toBe(3)
})
