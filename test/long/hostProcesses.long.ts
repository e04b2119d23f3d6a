import { expect, test, vi } from 'vitest'
import { aliveReplicas, change } from '../support/drivers/apiService.ts'
import { hostScenes, pidOf, portOf } from '../support/drivers/hostScene.ts'
import { isRunning } from '../support/fixtures/processes.ts'
import { until } from '../support/fixtures/until.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 60_000 })

const start = hostScenes()

test('a worker frozen for longer than its grace: replaced elsewhere, and its stale copies are never listed beside their replacements', async () => {
  const scene = await start(3, 3)
  const frozen = await scene.worker('a')
  const web = await scene.service('web', 3)
  const stale = web.table
  const pids = await Promise.all(stale.map(pidOf))
  await scene.worker('b')
  const seen = web.frames.length
  frozen.signal('SIGSTOP')
  await web.until('the addresses have left with the lease', (table) => table.length === 0)
  await scene.becomes('a', 'LOST')
  const replaced = await web.until('all are replaced', (table) => table.length === 3, 90)
  expect(replaced.map(({ index }) => index)).toEqual([0, 1, 2])
  expect(replaced.every((address) => portOf(address) >= 21_100)).toBe(true)
  // They serve on, and nobody is sent to them.
  expect(pids.every(isRunning)).toBe(true)

  frozen.signal('SIGCONT')
  await until(() => !pids.some(isRunning), 'the worker has stopped its stale copies', 60)
  await scene.becomes('a', 'REACHABLE')
  expect(web.table).toEqual(replaced)
  const gone = new Set(stale.map(({ replicaId }) => replicaId))
  expect(
    web.frames
      .slice(seen)
      .flatMap(({ added }) => added)
      .filter(({ replicaId }) => gone.has(replicaId)),
  ).toEqual([])
  // Clean, it takes others.
  await change(scene.client, 'cordonHost', 'CordonHostInput', { host: { name: 'b' } })
  const more = await scene.service('more', 1)
  expect(more.table.map(portOf).every((port) => port < 21_100)).toBe(true)
})

test('a drained host: each replica leaves when its replacement serves elsewhere, and nobody misses one', async () => {
  const scene = await start(15, 60)
  await scene.worker('a')
  const web = await scene.service('web', 3)
  await scene.worker('b')
  const seen = web.frames.length
  await change(scene.client, 'drainHost', 'DrainHostInput', { host: { name: 'a' } })
  await web.until(
    'all have moved',
    (table) => table.length === 3 && table.every((address) => portOf(address) >= 21_100),
    90,
  )
  // 3 replicas at 25 %: one more at most, none fewer.
  const sizes = web.frames.slice(seen).map(({ endpoint }) => endpoint?.addresses.length ?? 3)
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(3)
  const { client } = scene
  await until(
    async () => (await aliveReplicas(client, 'web')).every(({ host }) => host?.name === 'b'),
    'nothing is left there',
    60,
  )
})
