import { afterEach, expect, inject, test, vi } from 'vitest'
import { aliveReplicas, createService, placedReplicas, scale } from '../support/drivers/apiService.ts'
import { HandWorker } from '../support/drivers/handWorker.ts'
import { hostScenes } from '../support/drivers/hostScene.ts'
import { type TcpProxy, tcpProxy } from '../support/drivers/tcpProxy.ts'
import { until } from '../support/fixtures/until.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 })

let proxy: TcpProxy | undefined
let stop: (() => void) | undefined
afterEach(async () => {
  await proxy?.close()
  proxy = undefined
})
const start = hostScenes()
afterEach(() => {
  stop?.()
  stop = undefined
})

// A service that two servers change faster than either can decide is locked, loaded, decided on and written: the only transaction that is open over
// round trips. The proxy sees its statements pass.
const locks = '"Service" t WHERE t."id" = $1 AND'
const writes = '"guard":'

test.each([
  ['with the rows of a service locked', locks],
  ['with the counter of all facts locked', writes],
])(
  'a server freezes inside a transaction, %s: the other goes on within seconds, and the frozen one harms nothing when it is back',
  async (_what, statement) => {
    const { port } = new URL(inject('postgresqlUrl'))
    proxy = await tcpProxy({ host: '127.0.0.1', port: Number(port) })
    const scene = await start(5, 30, { servers: 2, databaseProxy: proxy, env: { XCE_IDLE_TRANSACTION_SECONDS: '2' } })
    const [first, second] = scene.servers
    if (first === undefined || second === undefined) throw new Error('There are two.')
    await createService(first.client(), 'hot', 2)
    await createService(first.client(), 'other', 2)
    const locked = new Set<number>()
    let frozenAt = 0
    proxy.onBytes((direction, bytes, connection) => {
      if (direction !== 'toServer' || frozenAt > 0) return
      const text = bytes.toString('latin1')
      if (text.includes(locks)) locked.add(connection)
      if (!locked.has(connection) || !text.includes(statement)) return
      // It is frozen before it can send anything more; what it has sent is on its way.
      first.child.kill('SIGSTOP')
      frozenAt = performance.now()
    })
    const clients = [first.client(), first.client(), second.client(), second.client()]
    const answers: Promise<unknown>[] = []
    await until(
      async () => {
        const round = clients.map((client, at) => scale(client, 'hot', 2 + at))
        answers.push(...round)
        await Promise.race([Promise.allSettled(round), until(() => frozenAt > 0, 'it is frozen')])
        return frozenAt > 0
      },
      'the first server is frozen in its transaction',
      120,
    )
    scene.asked = second
    await scale(scene.client, 'other', 5)
    await scale(scene.client, 'hot', 7)
    const waited = Math.round(performance.now() - frozenAt)
    console.log(`Frozen ${_what}: the other server's changes were done ${waited} ms later.`)
    // It is cut off after 5 s in the middle of a transaction.
    expect(waited).toBeLessThan(20_000)
    expect(await aliveReplicas(scene.client, 'hot')).toHaveLength(7)

    first.child.kill('SIGCONT')
    // What it had taken is done now: those scales are later than ours.
    await Promise.all(answers)
    await scale(first.client(), 'hot', 3)
    for (const server of scene.servers) {
      const client = server.client()
      await until(async () => (await aliveReplicas(client, 'hot')).length === 3, 'both servers see three', 30)
    }
    expect(await aliveReplicas(first.client(), 'other')).toHaveLength(5)
  },
)

test('what was sent to a frozen server is out of date when it goes on: an old registration fences nobody, an old change changes nothing', async () => {
  const scene = await start(5, 60, { servers: 2 })
  const [first, second] = scene.servers
  if (first === undefined || second === undefined) throw new Error('There are two.')
  scene.asked = second
  await createService(second.client(), 'web', 2)
  const watch = scene.watch('web', second.client())
  first.child.kill('SIGSTOP')
  const frozenAt = performance.now()
  const [old, worker] = [first, second].map((server) => new HandWorker(server.client(), 'a'))
  const sent = Promise.allSettled([old?.register(), scale(first.client(), 'web', 9)])
  await worker?.register()
  stop = worker?.keepAlive(500)
  const placed = await placedReplicas(second.client(), 'web', 2)
  await worker?.report(...placed.map(({ id }) => ({ replica: id, state: 'RUNNING', ready: true }) as const))
  await watch.until('both serve', (table) => table.length === 2)
  await until(() => performance.now() - frozenAt > 11_000, 'it is frozen for long', 30)
  first.child.kill('SIGCONT')
  expect((await sent).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await until(async () => (await first.client().send('{ __typename }')).status === 200, 'it takes what is new', 30)
  expect(await worker?.renew()).toMatchObject({ resync: false })
  expect(await aliveReplicas(first.client(), 'web')).toHaveLength(2)
  expect(watch.table).toHaveLength(2)
})
