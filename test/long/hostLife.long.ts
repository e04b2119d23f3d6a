import { expect, test, vi } from 'vitest'
import { aliveReplicas } from '../support/drivers/apiService.ts'
import { hostScenes, pidOf, portOf } from '../support/drivers/hostScene.ts'
import { isRunning } from '../support/fixtures/processes.ts'
import { until } from '../support/fixtures/until.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 })

const start = hostScenes()

test('a worker that died and is back within the grace: its replicas ran on, and are listed again with what it tells', async () => {
  const scene = await start(3, 120)
  const worker = await scene.worker('a')
  const web = await scene.service('web', 3)
  const before = web.table
  const pids = await Promise.all(before.map(pidOf))
  await worker.end('SIGKILL')
  await web.until('the addresses have left with the lease', (table) => table.length === 0)
  expect((await Promise.all(before.map(pidOf))).toSorted()).toEqual(pids.toSorted())
  worker.start()
  expect(await web.until('they are back', (table) => table.length === 3)).toEqual(before)
  expect(await Promise.all(before.map(pidOf))).toEqual(pids)
})

test('a worker that died and never comes back: everything is replaced on the other host, with the same indexes', async () => {
  const scene = await start(3, 3)
  const worker = await scene.worker('a')
  const web = await scene.service('web', 3)
  const stale = web.table
  const pids = await Promise.all(stale.map(pidOf))
  await scene.worker('b')
  await worker.end('SIGKILL')
  await scene.becomes('a', 'LOST')
  const after = await web.until(
    'all are replaced',
    (table) => table.length === 3 && table.every((address) => portOf(address) >= 21_100),
    90,
  )
  expect(after.map(({ index }) => index)).toEqual([0, 1, 2])
  // Back after all, it finds what it had, and stops it.
  expect(pids.every(isRunning)).toBe(true)
  worker.start()
  await until(() => !pids.some(isRunning), 'the stale copies are stopped', 60)
  await scene.becomes('a', 'REACHABLE')
  expect(web.table).toEqual(after)
})

test('no server for longer than lease and grace: nothing is lost; only what its profile wants to stop without contact has stopped', async () => {
  const scene = await start(3, 3)
  await scene.worker('a')
  const keeps = await scene.service('keeps', 2)
  const stops = await scene.service('stops', 1, { onLostContact: 'STOP' })
  const kept = keeps.table
  const pids = await Promise.all(kept.map(pidOf))
  const [gone] = stops.table
  const [stopped] = await Promise.all(stops.table.map(pidOf))
  for (const watch of [keeps, stops]) watch.close()
  expect(await scene.server.end('SIGKILL')).toBe('SIGKILL')
  await until(() => !isRunning(stopped ?? 0), 'it is stopped by its worker alone', 60)
  expect(await Promise.all(kept.map(pidOf))).toEqual(pids)

  await scene.server.start()
  const again = scene.watch('keeps')
  expect(await again.until('the table', (table) => table.length === 2)).toEqual(kept)
  const isReplaced = (table: readonly { replicaId: string }[]) =>
    table.length === 1 && table[0]?.replicaId !== gone?.replicaId
  await scene.watch('stops').until('it is replaced', isReplaced, 90)
  const replicas = await aliveReplicas(scene.client, 'keeps')
  expect(replicas.map(({ id, start }) => [id, start])).toEqual(kept.map(({ replicaId }) => [replicaId, 1]))
  // More than a lease and a grace after the server's start nothing has changed: its worker renews.
  const { client } = scene
  const seenAt = async () => {
    const query = '{ host(name: "a") { workers { lastSeenAt } } }'
    const { host } = await client.ask<{ host: { workers: { lastSeenAt: string }[] } }>(query)
    return Date.parse(host.workers[0]?.lastSeenAt ?? '')
  }
  const begun = await seenAt()
  await until(async () => (await seenAt()) > begun + 7_000, 'the worker renews for longer than lease and grace', 60)
  expect(again.table).toEqual(kept)
  expect(again.frames.filter(({ kind }) => kind === 'DELTA')).toEqual([])
})
