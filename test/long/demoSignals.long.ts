import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { NpmGroup } from '../support/drivers/npmGroup.ts'
import { expectNoProcessWith } from '../support/fixtures/processes.ts'

vi.setConfig({ testTimeout: 300_000 })

let group: NpmGroup
beforeEach(() => {
  group = new NpmGroup()
})
afterEach(() => group.clean())

test('the demo stops its server, worker and replicas in order', async () => {
  group.start('demo', { XCE_WORKER_PORT_RANGE: '24200-24299' })
  await group.says('3 replicas were ready')
  await group.end('SIGTERM')
  expect(group.output).toContain('Interrupted.')
  expect(group.output).toContain('All have ended.')
  await expectNoProcessWith(group.directory)
})
