import { afterEach, expect, inject, test, vi } from 'vitest'
import { scale } from '../support/drivers/apiService.ts'
import { hostScenes, pidOf } from '../support/drivers/hostScene.ts'
import { type TcpProxy, tcpProxy } from '../support/drivers/tcpProxy.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 })

let proxy: TcpProxy | undefined
afterEach(async () => {
  await proxy?.close()
  proxy = undefined
})
const start = hostScenes()
afterEach(() => proxy?.heal())

test('the network between one server and the database is cut without a word: the other takes over, and who follows the first misses nothing', async () => {
  proxy = await tcpProxy({ host: '127.0.0.1', port: Number(new URL(inject('postgresqlUrl')).port) })
  const scene = await start(5, 5, { servers: 2, databaseProxy: proxy })
  const [first, second] = scene.servers
  if (first === undefined || second === undefined) throw new Error('There are two.')
  scene.asked = second
  for (const name of ['a', 'b', 'c']) await scene.worker(name)
  const web = await scene.service('web', 2)
  const watch = scene.watch('web', first.client())
  expect(await watch.until('the same table', (table) => table.length === 2)).toEqual(web.table)
  const pids = await Promise.all(web.table.map(pidOf))

  proxy.hold('toServer', 'toClient')
  await scale(second.client(), 'web', 4)
  const after = await web.until('four serve', (table) => table.length === 4, 90)
  // Workers that were connected to the first one have renewed their leases through the other in time.
  expect(web.frames.flatMap(({ removed }) => removed)).toEqual([])
  proxy.heal()
  expect(await watch.until('the same table', (table) => table.length === 4)).toEqual(after)
  expect(await Promise.all(after.slice(0, 2).map(pidOf))).toEqual(pids)
  await scale(first.client(), 'web', 1)
  for (const each of [web, watch]) await each.until('one is left', (table) => table.length === 1)
})
