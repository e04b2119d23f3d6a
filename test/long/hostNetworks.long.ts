import { afterEach, expect, test, vi } from 'vitest'
import { type HostScene, hostScenes, pidOf } from '../support/drivers/hostScene.ts'
import type { Direction } from '../support/drivers/tcpProxy.ts'
import { NetworkNamespace } from '../support/fixtures/networkNamespace.ts'
import { isRunning } from '../support/fixtures/processes.ts'
import { until } from '../support/fixtures/until.ts'

// Hosts with addresses and a network of their own, where the machine lets this user make such.

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 })

let hosts: NetworkNamespace[] = []
afterEach(() => {
  for (const host of hosts) host.remove()
  hosts = []
})
const start = hostScenes()
afterEach(() => {
  for (const host of hosts) host.heal()
})

async function join(scene: HostScene, name: string, number: number) {
  const host = new NetworkNamespace(number)
  hosts.push(host)
  const urls = scene.servers.map(({ url }) => url.replace('127.0.0.1', host.gateway))
  await scene.worker(name, { urls, env: { XCE_WORKER_ADDRESSES: host.address }, before: host.words })
  return host
}

const cuts: readonly [string, Direction[]][] = [
  ['to the servers', ['toServer']],
  ['to the worker', ['toClient']],
  ['in both directions', ['toServer', 'toClient']],
]

test.skipIf(!NetworkNamespace.isPossible).each(cuts)(
  'packets %s are lost, for less than the grace and then for longer: the addresses come back, and then all is replaced elsewhere',
  async (_what, directions) => {
    const scene = await start(3, 12, { servers: 2, env: { XCE_HOST: '0.0.0.0' } })
    const host = await join(scene, 'a', 1)
    const web = await scene.service('web', 2)
    const before = web.table
    expect(before.every(({ hostPort }) => hostPort.startsWith(`${host.address}:`))).toBe(true)
    const pids = await Promise.all(before.map(pidOf))
    host.cut(...directions)
    await web.until('they have left', (table) => table.length === 0)
    host.heal()
    expect(await web.until('they are back', (table) => table.length === 2, 90)).toEqual(before)
    expect(await Promise.all(before.map(pidOf))).toEqual(pids)

    const other = await join(scene, 'b', 2)
    host.cut(...directions)
    await scene.becomes('a', 'LOST')
    const isOther = ({ hostPort }: { hostPort: string }) => hostPort.startsWith(`${other.address}:`)
    const replaced = await web.until('all are replaced', (table) => table.length === 2 && table.every(isOther), 90)
    expect(pids.every(isRunning)).toBe(true)
    host.heal()
    await until(() => !pids.some(isRunning), 'the stale copies are stopped', 90)
    await scene.becomes('a', 'REACHABLE')
    expect(web.table).toEqual(replaced)
  },
)
