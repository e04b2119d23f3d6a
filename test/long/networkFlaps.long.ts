import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
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

test.each([
  ['is silent for 250 ms', (way: TcpProxy) => way.hold('toServer', 'toClient')],
  [
    'drops every connection and is silent for 250 ms',
    (way: TcpProxy) => {
      way.cut()
      way.hold('toServer', 'toClient')
    },
  ],
] as const)('the network %s, 20 times in 10 s: no storm, and nothing is replaced', async (_what, fall) => {
  const scene = await start(5, 30, { servers: 1 })
  proxy = await tcpProxy({ host: '127.0.0.1', port: Number(new URL(scene.server.url).port) })
  await scene.worker('a', { urls: [`http://127.0.0.1:${proxy.port}/graphql`] })
  const web = await scene.service('web', 3)
  const before = web.table
  const pids = await Promise.all(before.map(pidOf))
  const known = { facts: (await scene.audit()).revision, connections: proxy.connections }
  for (let flap = 0; flap < 20; flap++) {
    fall(proxy)
    await wait(250)
    proxy.heal()
    await wait(250)
  }
  await scene.becomes('a', 'REACHABLE')
  expect(await web.until('all serve', (table) => table.length === 3)).toEqual(before)
  expect(await Promise.all(before.map(pidOf))).toEqual(pids)
  const audit = await scene.audit()
  expect(audit.services.get('web')).toMatchObject({ highestActive: 3 })
  const told = { facts: Number(audit.revision - known.facts), connections: proxy.connections - known.connections }
  console.log(`20 flaps: ${JSON.stringify(told)}`)
  expect(told.connections).toBeLessThanOrEqual(25)
  // At most the lease was over once: the host away and back, and the addresses with it.
  expect(told.facts).toBeLessThanOrEqual(10)
})

test('the network is away for longer than lease and grace again and again, 20 times in 50 s: never more than n + s are active, and no storm', async () => {
  const scene = await start(1, 1, { servers: 2 })
  proxy = await tcpProxy({ host: '127.0.0.1', port: Number(new URL(scene.server.url).port) })
  const known = (await scene.audit()).revision
  await scene.worker('a', { urls: [`http://127.0.0.1:${proxy.port}/graphql`] })
  const web = await scene.service('web', 3)
  await scene.worker('b')
  for (let flap = 0; flap < 20; flap++) {
    proxy.hold('toServer', 'toClient')
    await wait(2_000)
    proxy.heal()
    await wait(500)
  }
  await scene.becomes('a', 'REACHABLE')
  await web.until('all serve', (table) => table.length === 3)
  const audit = await scene.audit()
  // R1: 3 replicas at 25 %, at most one more.
  expect(audit.services.get('web')?.highestActive).toBeLessThanOrEqual(4)
  const facts = Number(audit.revision - known)
  console.log(`20 long flaps: ${facts} facts`)
  expect(facts).toBeLessThanOrEqual(400)
})
