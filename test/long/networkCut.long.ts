import { afterEach, expect, test, vi } from 'vitest'
import { type HostScene, hostScenes, pidOf, portOf } from '../support/drivers/hostScene.ts'
import { type Direction, type TcpProxy, tcpProxy } from '../support/drivers/tcpProxy.ts'
import { isRunning } from '../support/fixtures/processes.ts'
import { until } from '../support/fixtures/until.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 })

let proxies: TcpProxy[] = []
afterEach(async () => {
  for (const proxy of proxies) await proxy.close()
  proxies = []
})
const start = hostScenes()
afterEach(() => {
  for (const proxy of proxies) proxy.heal()
})

/** A worker whose way to every server leads through `proxies`. */
async function cutOff(scene: HostScene, name: string) {
  proxies = await Promise.all(
    scene.servers.map(({ url }) => tcpProxy({ host: '127.0.0.1', port: Number(new URL(url).port) })),
  )
  return scene.worker(name, { urls: proxies.map(({ port }) => `http://127.0.0.1:${port}/graphql`) })
}

const cuts: readonly [string, Direction[]][] = [
  ['to the servers', ['toServer']],
  ['to the worker', ['toClient']],
  ['in both directions', ['toServer', 'toClient']],
]

test.each(cuts)(
  'the network %s is cut for less than the grace: the addresses leave and come back, and nothing is replaced',
  async (_what, directions) => {
    const scene = await start(3, 120, { servers: 2 })
    await cutOff(scene, 'a')
    const web = await scene.service('web', 2)
    const before = web.table
    const pids = await Promise.all(before.map(pidOf))
    for (const proxy of proxies) proxy.hold(...directions)
    await web.until('they have left', (table) => table.length === 0)
    for (const proxy of proxies) proxy.heal()
    expect(await web.until('they are back', (table) => table.length === 2, 90)).toEqual(before)
    expect(await Promise.all(before.map(pidOf))).toEqual(pids)
    expect((await scene.audit()).services.get('web')).toMatchObject({ highestActive: 2 })
  },
)

test.each(cuts)(
  'the network %s is cut for longer: all is replaced elsewhere, and the stale copies are stopped before their host is back',
  async (_what, directions) => {
    const scene = await start(3, 3, { servers: 2 })
    await cutOff(scene, 'a')
    const web = await scene.service('web', 2)
    const stale = web.table
    const pids = await Promise.all(stale.map(pidOf))
    await scene.worker('b')
    for (const proxy of proxies) proxy.hold(...directions)
    await scene.becomes('a', 'LOST')
    const replaced = await web.until(
      'all are replaced',
      (table) => table.length === 2 && table.every((address) => portOf(address) >= 21_100),
      90,
    )
    expect(pids.every(isRunning)).toBe(true)
    for (const proxy of proxies) proxy.heal()
    await until(() => !pids.some(isRunning), 'the stale copies are stopped', 60)
    await scene.becomes('a', 'REACHABLE')
    expect(web.table).toEqual(replaced)
  },
)
