import { readFileSync, renameSync } from 'node:fs'
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest'
import { ApiClient } from '../support/drivers/apiClient.ts'
import { createService, placedReplicas } from '../support/drivers/apiService.ts'
import { NpmGroup } from '../support/drivers/npmGroup.ts'
import { ServerProcess } from '../support/drivers/serverProcess.ts'
import { copyTemplate } from '../support/fixtures/globalSetup.ts'
import { expectNoProcessWith } from '../support/fixtures/processes.ts'
import { until } from '../support/fixtures/until.ts'

// A signal to a whole process group; that of the demo is in test/long/demoSignals.long.ts.
vi.setConfig({ testTimeout: 120_000 })

let group: NpmGroup
beforeEach(() => {
  group = new NpmGroup()
})
afterEach(() => group.clean())

test('the server stops in order, and its worker and replicas with it', async () => {
  renameSync(copyTemplate(inject('embeddedTemplate')), group.file('data'))
  group.start('start', {
    XCE_PORT: '0',
    XCE_DATA_DIR: group.file('data'),
    XCE_STOP_REPLICAS_ON_EXIT: 'on',
    XCE_WORKER_PORT_RANGE: '24100-24199',
  })
  await group.says('The API and GraphiQL are at')
  const read = (name: string) => readFileSync(group.file(`data/${name}`), 'utf8').trim()
  const client = new ApiClient(read('server-url'), read('admin-token'))
  await createService(client, 'web', 1)
  await until(async () => (await placedReplicas(client, 'web', 1))[0]?.state === 'RUNNING', 'a replica runs')
  await group.end('SIGTERM')
  expect(group.output).toContain('SIGTERM: the server stops.')
  expect(group.output).toContain('The server has stopped.')
  expect(group.output).not.toContain('again')
  await expectNoProcessWith(group.directory)
})

test('the worker ends in order', async () => {
  const server = new ServerProcess()
  try {
    await server.start()
    group.start('worker', {
      XCE_WORKER_SERVER_FILE: server.file('server-url'),
      XCE_WORKER_TOKEN_FILE: server.file('worker-token'),
      XCE_WORKER_STATE_DIR: group.file('worker'),
      XCE_WORKER_PORT_RANGE: '24300-24399',
    })
    await group.says('the worker runs')
    await group.end('SIGTERM')
    expect(group.output.match(/the worker ends; its replicas run on/g)).toHaveLength(1)
    await expectNoProcessWith(group.directory)
  } finally {
    await server.clean()
  }
})
