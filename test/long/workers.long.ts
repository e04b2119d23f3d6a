import { afterEach, describe, expect, test } from 'vitest'
import { aliveReplicas, change } from '../support/drivers/apiService.ts'
import { type HostScene, hostScenes, pidOf, portOf } from '../support/drivers/hostScene.ts'
import { WorkerProcess } from '../support/drivers/workerProcess.ts'
import { isRunning } from '../support/fixtures/processes.ts'
import { until } from '../support/fixtures/until.ts'

/** Those that the scene does not know of. */
let others: WorkerProcess[] = []
const start = hostScenes()
afterEach(async () => {
  for (const worker of others) await worker.end('SIGKILL')
  others = []
})

test('two workers share a machine as two hosts whose ports cannot collide; who takes their name is refused, and runs nothing', async () => {
  const scene = await start(15, 60)
  const { server } = scene
  await scene.worker('a')
  await scene.worker('b')
  const web = await scene.service('web', 4)
  const ports = web.table.map(portOf)
  expect(new Set(ports).size).toBe(4)
  expect(ports.filter((port) => port < 21_100)).toHaveLength(2)
  const before = await aliveReplicas(scene.client, 'web')

  const byName = new WorkerProcess(server, 'd', 21_200, { XCE_WORKER_NAME: 'b' })
  others.push(byName)
  byName.start()
  await until(() => byName.output.includes('not connected'), 'it is told')
  expect(byName.output).toContain(
    'A worker named b is registered already, with another state directory, on host b: give this one another XCE_WORKER_NAME.',
  )
  expect(await aliveReplicas(scene.client, 'web')).toEqual(before)
  expect(web.table.map(portOf)).toEqual(ports)
})

describe('two workers on one host, as a batch system starts them', () => {
  const shared = { XCE_WORKER_HOST: 'n1', XCE_WORKER_PORT_RANGE: '21000-21099', XCE_WORKER_CPU_MILLIS: '500' }
  const workersOfHost = `{ host(name: "n1") { reachability cpuMillis workers { name reachability } } }`
  const replicasOf = `query { replicas(filter: { services: [{ name: "web" }], states: [STARTING, RUNNING, STOPPING] }) { nodes { worker { name } ports { port } } } }`
  interface Placed {
    readonly worker: { readonly name: string }
    readonly ports: readonly { readonly port: number }[]
  }
  const placed = async (client: HostScene['client']) =>
    (await client.ask<{ replicas: { nodes: readonly Placed[] } }>(replicasOf)).replicas.nodes.map(
      ({ worker, ports }) => ({
        worker: worker.name,
        port: ports[0]?.port ?? 0,
      }),
    )
  const portsOf = (rows: readonly { readonly worker: string; readonly port: number }[], name: string) =>
    rows.filter(({ worker }) => worker === name).map(({ port }) => port)

  test('they share its ports, each runs its own; one is killed with its replicas running on, is lost, and stops them before it takes others', async () => {
    const scene = await start(2, 4)
    const { client } = scene
    await scene.worker('a', { env: shared, host: 'n1' })
    const b = await scene.worker('b', { env: shared, host: 'n1' })
    await until(
      async () => (await client.ask<{ host: { cpuMillis: number } }>(workersOfHost)).host.cpuMillis === 1_000,
      'both are there',
    )
    const web = await scene.service('web', 4)
    const before = await placed(client)
    expect(new Set(before.map(({ port }) => port)).size).toBe(4)
    const lost = portsOf(before, 'b')
    expect(lost).toHaveLength(2)
    const pids = await Promise.all(web.table.filter((address) => lost.includes(portOf(address))).map(pidOf))

    // Its job is killed; what it started runs on, and nobody looks after it.
    await b.end('SIGKILL')
    await web.until(
      'its addresses leave',
      (table) => table.length === 2 && table.every((address) => !lost.includes(portOf(address))),
    )
    await web.until('all serve on a', (table) => table.length === 4)
    const after = await placed(client)
    expect(portsOf(after, 'a')).toHaveLength(4)
    expect(after.filter(({ port }) => lost.includes(port))).toEqual([])
    expect(pids.every(isRunning)).toBe(true)
    expect(await client.ask(workersOfHost)).toEqual({
      host: {
        reachability: 'REACHABLE',
        cpuMillis: 500,
        workers: [
          { name: 'a', reachability: 'REACHABLE' },
          { name: 'b', reachability: 'LOST' },
        ],
      },
    })

    b.start()
    await until(async () => {
      const { host } = await client.ask<{ host: { workers: readonly { reachability: string }[] } }>(workersOfHost)
      return host.workers.every(({ reachability }) => reachability === 'REACHABLE')
    }, 'it is back')
    expect(pids.some(isRunning)).toBe(false)
    await change(client, 'scaleService', 'ScaleServiceInput', { service: { name: 'web' }, replicas: 8 })
    await web.until('it takes others', (table) => table.length === 8)
    expect(new Set((await placed(client)).map(({ port }) => port)).size).toBe(8)
  })

  test('one is drained: its replicas go to the other one, which is left alone', async () => {
    const scene = await start(15, 60)
    const { client } = scene
    const a = await scene.worker('a', { env: shared, host: 'n1' })
    await scene.worker('b', { env: shared, host: 'n1' })
    const web = await scene.service('web', 4)
    const stay = portsOf(await placed(client), 'b')
    a.signal('SIGQUIT')
    expect(await a.ended()).toBe(0)
    expect(a.output).toContain('All replicas have moved.')
    const after = await placed(client)
    expect(portsOf(after, 'a')).toEqual([])
    expect(portsOf(after, 'b')).toEqual(expect.arrayContaining([...stay]))
    await web.until('all serve', (table) => table.length === 4)
    // Started again, it takes replicas again.
    a.start()
    await until(() => a.output.match(/"registered"/g)?.length === 2, 'it is back')
    await change(client, 'scaleService', 'ScaleServiceInput', { service: { name: 'web' }, replicas: 6 })
    await until(async () => portsOf(await placed(client), 'a').length > 0, 'it has some')
    await web.until('all serve', (table) => table.length === 6)
  })
})

test('--drain: the running worker moves its replicas, shows how far that is, and both end with 0; started again it takes others', async () => {
  const scene = await start(15, 60)
  const { client } = scene
  const leaving = await scene.worker('a')
  const web = await scene.service('web', 3)
  const pids = await Promise.all(web.table.map(pidOf))

  // There is nowhere to go: it says so, and goes on serving.
  const drain = new WorkerProcess(scene.server, 'a', 0)
  others.push(drain)
  drain.start('--drain')
  const waits = '3 replicas are still here; default/web waits: '
  await until(
    () => drain.output.includes(waits) && drain.output.includes('Start a worker on another host'),
    'it shows what is left, and why',
  )
  expect(pids.every(isRunning)).toBe(true)

  const seen = web.frames.length
  await scene.worker('b')
  expect(await drain.ended()).toBe(0)
  expect(await leaving.ended()).toBe(0)
  // Who watches sees the latest word; the worker's own log has all of them.
  expect(leaving.output).toContain('The worker is being drained: its replicas are replaced elsewhere.')
  expect(drain.output.trim().split('\n')).toEqual(
    expect.arrayContaining([
      'All replicas have moved.',
      expect.stringMatching(/^The worker with process id \d+ has ended\.$/),
    ]),
  )
  expect(pids.some(isRunning)).toBe(false)
  await web.until(
    'all serve on b',
    (table) => table.length === 3 && table.every((address) => portOf(address) >= 21_100),
  )
  // 3 replicas at 25 %: one more at most, none fewer.
  const sizes = web.frames.slice(seen).map(({ endpoint }) => endpoint?.addresses.length ?? 3)
  expect(Math.min(...sizes)).toBe(3)

  await change(client, 'cordonHost', 'CordonHostInput', { host: { name: 'b' } })
  leaving.start()
  await until(() => leaving.output.match(/"registered"/g)?.length === 2, 'it is back')
  await change(client, 'scaleService', 'ScaleServiceInput', { service: { name: 'web' }, replicas: 4 })
  await web.until('the fourth serves on a', (table) => table.some((address) => portOf(address) < 21_100))
})

test('SIGQUIT drains too; where an operator ends the drain, the worker goes on', async () => {
  const scene = await start(15, 60)
  const { client } = scene
  const worker = await scene.worker('a')
  const web = await scene.service('web', 1)
  worker.signal('SIGQUIT')
  await until(() => worker.output.includes('1 replica is still here'), 'it drains')
  await change(client, 'uncordonHost', 'UncordonHostInput', { host: { name: 'a' } })
  await until(() => worker.output.includes('It is no longer being drained'), 'it has heard')
  await until(async () => (await aliveReplicas(client, 'web')).length === 1, 'no replacement waits')
  expect(web.table).toHaveLength(1)
  // Asked again, it drains again; with nothing left to move it ends.
  worker.signal('SIGQUIT')
  await until(async () => (await aliveReplicas(client, 'web')).length === 2, 'a replacement waits')
  await change(client, 'deleteService', 'DeleteServiceInput', { service: { name: 'web' } })
  expect(await worker.ended()).toBe(0)
})
