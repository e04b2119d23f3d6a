import { execFile, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, test, vi } from 'vitest'
import { ServerProcess } from '../support/drivers/serverProcess.ts'
import { until } from '../support/fixtures/until.ts'

vi.setConfig({ testTimeout: 300_000 })

const run = promisify(execFile)
const hasPrograms = ['python3', 'curl', 'bash'].every((program) => spawnSync(program, ['--version']).status === 0)

// Ports that no other story gives to its replicas.
const server = new ServerProcess({
  XCE_LOCAL_WORKER: 'on',
  XCE_WORKER_ADDRESSES: '127.0.0.1',
  XCE_WORKER_PORT_RANGE: '30900-30999',
  XCE_STOP_REPLICAS_ON_EXIT: 'on',
})
/** The directory of the reader's second terminal, with the server's data directory as .xce. */
const directory = mkdtempSync(path.join(tmpdir(), 'xce-reader-'))
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.error(server.output)
  rmSync(directory, { recursive: true, force: true })
  expect(await server.clean()).toEqual([])
})

/** The commands of README's "Your own service in five minutes" that go into the second terminal: `ask`, then each use of it. */
function commands(): { readonly ask: string; readonly steps: readonly string[] } {
  const section = readFileSync('README.md', 'utf8')
    .split(/^(?=## )/m)
    .find((part) => part.startsWith('## Your own'))
  const blocks = [...(section ?? '').matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block)
  const ask = blocks.find((block) => block.startsWith('ask()')) ?? ''
  return { ask, steps: blocks.filter((block) => /^(ask '|REPLICA=)/.test(block)) }
}

test.skipIf(!hasPrograms)('every command of "Your own service in five minutes" does what README says', async () => {
  await server.start()
  symlinkSync(server.directory, path.join(directory, '.xce'))
  const { ask, steps } = commands()
  const define = ask.replace('http://127.0.0.1:4000', new URL(server.url).origin)
  expect(define).not.toBe(ask)
  const step = async (word: string) => {
    const command = steps.find((text) => text.includes(word)) ?? ''
    expect(command).not.toBe('')
    return (await run('bash', ['-c', define + command], { cwd: directory })).stdout
  }

  expect(JSON.parse(await step('applyProfile'))).toEqual({
    data: { applyProfile: { profileRevision: { revision: 1 } } },
  })
  expect(await step('createService')).toContain('"id":"Service_')

  let seen = ''
  const watch = spawn('bash', ['-c', define + steps.find((text) => text.includes('subscription'))], { cwd: directory })
  watch.stdout.on('data', (data) => (seen += String(data)))
  const frames = () =>
    [...seen.matchAll(/^data: (\{.*\})$/gm)].map(([, json = '']) => JSON.parse(json).data.endpointChanged)
  const addresses = (): string[] =>
    frames()
      .at(-1)
      ?.endpoint.addresses.map(({ hostPort }: never) => hostPort) ?? []
  await until(() => addresses().length === 3, 'three addresses')
  const three = addresses()
  expect(frames()[0].kind).toBe('SNAPSHOT')
  for (const address of three) expect((await fetch(`http://${address}/`)).status).toBe(200)
  expect(await step('blockers')).toContain('"readyReplicas":3')

  expect(await step('updateService')).toContain('"number":2')
  await until(
    () => addresses().length === 3 && addresses().every((address) => !three.includes(address)),
    'the watch shows three addresses of version 2',
  )
  await until(async () => (await step('replicaLog')).includes('GET / HTTP'), 'the log has a request of the probe')

  expect(await step('deleteService')).toContain('"status":"DELETING"')
  await until(() => frames().at(-1)?.kind === 'GONE', 'the watch ends with GONE')
  expect(addresses()).toEqual([])
  await until(() => watch.exitCode === 0, 'the watch has ended')
  expect(steps).toHaveLength(7)
})
