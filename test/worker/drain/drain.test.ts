import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { aliveReplicas, createService } from '../../support/drivers/apiService.ts'
import { LinkedWorker } from '../../support/drivers/linkedWorker.ts'
import { TestServer } from '../../support/drivers/testServer.ts'
import { WorkerServer } from '../../support/drivers/workerServer.ts'
import { expectNoProcessWith, expectNothingLeft } from '../../support/fixtures/processes.ts'
import { until } from '../../support/fixtures/until.ts'

let directory: string
let said: string[]
let ends: (() => Promise<void>)[]
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'xce-drain-'))
  said = []
  ends = []
})
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  await expectNoProcessWith(directory)
  await expectNothingLeft()
  rmSync(directory, { recursive: true })
})

function connect(url: string, token: string): LinkedWorker {
  const tell = (sentence: string) => void said.push(sentence)
  const worker = new LinkedWorker({ directory, token, tell, settings: { servers: { kind: 'list', urls: [url] } } })
  ends.push(() => worker.end())
  return worker
}

test('a drain that can’t go on says what its services wait for', async () => {
  const server = await TestServer.start()
  ends.push(() => server.stop())
  const { client } = server
  const { drain } = connect(server.url, client.token ?? '')
  await createService(client, 'web', 2)
  const ready = async () => (await aliveReplicas(client, 'web')).filter((replica) => replica.ready).length
  await until(async () => (await ready()) === 2, 'both are ready')
  drain.request()
  const waits =
    /^2 replicas are still here; default\/web waits: .*No host takes replicas \(1 host: 1 draining\)\. Start a worker on another host/
  await until(() => said.some((sentence) => waits.test(sentence)), 'it says what would help')
  expect(said[0]).toBe('The worker is being drained: its replicas are replaced elsewhere.')
  expect(await ready()).toBe(2)
})

test('without a server no drain begins: it says so, and says when one does', async () => {
  const server = new WorkerServer()
  ends.push(() => server.stop())
  await server.start()
  const { url } = server
  await server.stop()
  const { drain } = connect(url, server.token)
  drain.request()
  const alone = (goes: string) => `No server accepts the worker, whose log says why: the drain ${goes} when one does.`
  await until(() => said.length > 0, 'it says so')
  await server.start()
  await until(() => drain.done.aborted, 'it has drained')
  expect(said).toEqual([
    alone('begins'),
    'The worker is being drained: its replicas are replaced elsewhere.',
    'All replicas have moved.',
  ])
})
