import { afterEach, expect, test } from 'vitest'
import { aliveReplicas, change } from '../support/apiService.ts'
import { HostScene, pidOf, portOf } from '../support/hostScene.ts'
import { isRunning } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { WorkerProcess } from '../support/workerProcess.ts'

let scene: HostScene | undefined
/** Those that the scene does not know of. */
let others: WorkerProcess[] = []
afterEach(async ({ task }) => {
  for (const worker of others) await worker.end('SIGKILL')
  others = []
  await scene?.clean(task.result?.state === 'fail')
  scene = undefined
})

test('two workers share a machine as two hosts whose ports cannot collide; who takes their host or name is refused, and runs nothing', async () => {
  scene = await HostScene.start(15, 60)
  const { server } = scene
  await scene.worker('a')
  await scene.worker('b')
  const web = await scene.service('web', 4)
  const ports = web.table.map(portOf)
  expect(new Set(ports).size).toBe(4)
  expect(ports.filter((port) => port < 21_100)).toHaveLength(2)
  const before = await aliveReplicas(scene.client, 'web')

  const refused = async (name: string, env: NodeJS.ProcessEnv): Promise<WorkerProcess> => {
    const worker = new WorkerProcess(server, name, 21_200, env)
    others.push(worker)
    worker.start()
    await until(() => worker.output.includes('not connected'), 'it is told')
    return worker
  }
  const onHost = await refused('c', { XCE_WORKER_HOST: 'a', XCE_WORKER_TOKEN_FILE: server.file('worker-token') })
  expect(onHost.output).toContain(
    'Host a has a worker already, a, and one worker looks after a host: stop this one, or give it another XCE_WORKER_HOST.',
  )
  const byName = await refused('d', { XCE_WORKER_NAME: 'b' })
  expect(byName.output).toContain(
    'A worker named b is registered already, with another state directory, on host b: give this one another XCE_WORKER_NAME.',
  )
  expect(await aliveReplicas(scene.client, 'web')).toEqual(before)
  expect(web.table.map(portOf)).toEqual(ports)
})

test('--drain: the running worker moves its replicas, shows how far that is, and both end with 0; started again it takes none until it is uncordoned', async () => {
  scene = await HostScene.start(15, 60)
  const { client } = scene
  const leaving = await scene.worker('a')
  const web = await scene.service('web', 3)
  const pids = await Promise.all(web.table.map(pidOf))

  // There is nowhere to go: it says so, and goes on serving.
  const drain = new WorkerProcess(scene.server, 'a', 0)
  others.push(drain)
  drain.start('--drain')
  await until(() => drain.output.includes('3 replicas are still here'), 'it shows what is left')
  expect(pids.every(isRunning)).toBe(true)

  const seen = web.frames.length
  await scene.worker('b')
  expect(await drain.ended()).toBe(0)
  expect(await leaving.ended()).toBe(0)
  expect(drain.output.trim().split('\n')).toEqual(
    expect.arrayContaining([
      'The worker drains its host: its replicas are replaced elsewhere.',
      'All replicas have moved.',
      expect.stringMatching(/^The worker with process id \d+ has ended\.$/),
    ]),
  )
  expect(pids.some(isRunning)).toBe(false)
  await web.until('all serve on b', (table) => table.length === 3 && table.every((address) => portOf(address) >= 21_100))
  // 3 replicas at 25 %: one more at most, none fewer.
  const sizes = web.frames.slice(seen).map(({ endpoint }) => endpoint?.addresses.length ?? 3)
  expect(Math.min(...sizes)).toBe(3)

  await change(client, 'cordonHost', 'CordonHostInput', { host: 'b' })
  leaving.start()
  await until(() => leaving.output.match(/"registered"/g)?.length === 2, 'it is back')
  await change(client, 'scaleService', 'ScaleServiceInput', { service: { name: 'web' }, replicas: 4 })
  await until(async () => (await aliveReplicas(client, 'web')).some(({ host }) => host === null), 'the fourth waits')
  await change(client, 'uncordonHost', 'UncordonHostInput', { host: 'a' })
  await web.until('the fourth serves on a', (table) => table.some((address) => portOf(address) < 21_100))
})

test('SIGQUIT drains too; where an operator ends the drain, the worker goes on', async () => {
  scene = await HostScene.start(15, 60)
  const { client } = scene
  const worker = await scene.worker('a')
  const web = await scene.service('web', 1)
  worker.signal('SIGQUIT')
  await until(() => worker.output.includes('1 replica is still here'), 'it drains')
  await change(client, 'uncordonHost', 'UncordonHostInput', { host: 'a' })
  await until(() => worker.output.includes('Its host is no longer being drained'), 'it has heard')
  await until(async () => (await aliveReplicas(client, 'web')).length === 1, 'no replacement waits')
  expect(web.table).toHaveLength(1)
  // Asked again, it drains again; with nothing left to move it ends.
  worker.signal('SIGQUIT')
  await until(async () => (await aliveReplicas(client, 'web')).length === 2, 'a replacement waits')
  await change(client, 'deleteService', 'DeleteServiceInput', { service: { name: 'web' } })
  expect(await worker.ended()).toBe(0)
})
